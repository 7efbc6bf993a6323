# swtpm on two TCP ports of this machine: tss-esapi knows no socket in the file system for it. It ends with our process
# group, in which a watchdog is. $1 is the private directory, then swtpm by its path and the first port. Our output is
# for keymark.
place=$1 swtpm=$2 port=$3

mkdir "$place/state" || exit
"$swtpm" socket --tpm2 --flags startup-clear --tpmstate "dir=$place/state" --pid "file=$place/pid" \
    --server "type=tcp,port=$port,bindaddr=127.0.0.1" \
    --ctrl "type=tcp,port=$((port + 1)),bindaddr=127.0.0.1" >&2 &
# It writes its number once it listens, or ends because a port is taken; ten seconds are enough for either.
tries=0
until test -s "$place/pid"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 1000 ] || ! kill -0 $! 2>/dev/null; then kill -KILL 0; fi
    sleep 0.01
done
echo $!
