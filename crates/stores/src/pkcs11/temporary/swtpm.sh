# swtpm, and before it the resource manager that lets several programs use it, on a bus of its own. All of them
# are one process group with a watchdog in it, which ends when keymark does, however that happens.
# $1 is the private directory; then swtpm, dbus-daemon, dbus-send and tpm2-abrmd by their paths.
# Our output is for keymark.
place=$1 swtpm=$2 dbus_daemon=$3 dbus_send=$4 broker=$5

# Until the command succeeds, as long as what was started last runs; for ten seconds, since keymark may be gone
# before it hears of us.
await() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -gt 1000 ] || ! kill -0 $! 2>/dev/null; then kill -KILL 0; fi
        sleep 0.01
    done
}

"$swtpm" socket --tpm2 --flags startup-clear --tpmstate "dir=$place/state" \
    --server "type=unixio,path=$place/tpm" --ctrl "type=unixio,path=$place/tpm.ctrl" >&2 &
processes=$!
# tpm2-tss looks for the control socket under this name.
await test -S "$place/tpm.ctrl"
"$dbus_daemon" --config-file="$place/bus.conf" --nofork --nopidfile >&2 &
processes="$processes $!"
await test -S "$place/bus"
export DBUS_SESSION_BUS_ADDRESS="unix:path=$place/bus"
# It refuses root without being told. The limits are the highest that it takes: a process that uses the token makes
# two connections.
"$broker" --session --allow-root --flush-all --max-connections=100 --max-transients=100 \
    --tcti="swtpm:path=$place/tpm" >&2 &
processes="$processes $!"
await "$dbus_send" --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus.GetNameOwner string:com.intel.tss2.Tabrmd
echo "$processes"
