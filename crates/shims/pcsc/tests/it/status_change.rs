//! SCardGetStatusChange.

use std::time::Duration;

use crate::library::*;
use crate::server::{ATR, Server};
use crate::world::scenario;

const CARD: [(&str, &str); 1] = [("KEYMARK_PCSC_CARD", "{}/card")];
const CHANGED: Dword = 0x02;
const EMPTY: Dword = 0x10;
const PRESENT: Dword = 0x20;
/// Long enough for what must not be waited for.
const LONG: Dword = 60_000;

scenario!(
    the_state_is_told_at_once_to_whoever_does_not_know_it,
    CARD,
    |folder| {
        let server = Server::start(folder);
        let library = Library::load();
        let context = library.context();
        let mut states = [ReaderState::new(READER, 0)];
        assert_eq!(library.changes(context, LONG, &mut states), SUCCESS);
        assert_eq!(
            (states[0].event, states[0].atr()),
            (PRESENT | CHANGED, &ATR[..])
        );
        states[0].current = states[0].event;
        assert_eq!(library.changes(context, 0, &mut states), TIMEOUT);
        assert_eq!(states[0].event, PRESENT);
        server.state().removed = true;
        assert_eq!(library.changes(context, LONG, &mut states), SUCCESS);
        assert_eq!(
            (states[0].event, states[0].atr()),
            (EMPTY | CHANGED, &[][..])
        );
    }
);

scenario!(looks_are_made_through_one_connection, CARD, |folder| {
    let server = Server::start(folder);
    let library = Library::load();
    let context = library.context();
    for _ in 0..50 {
        library.changes(context, 0, &mut [ReaderState::new(READER, PRESENT)]);
    }
    assert_eq!(server.state().clients.len(), 1);
});

scenario!(a_change_ends_the_wait, CARD, |folder| {
    let server = Server::start(folder);
    let library = Library::load();
    let context = library.context();
    let mut states = [ReaderState::new(READER, PRESENT)];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            server.end(folder);
        });
        assert_eq!(library.changes(context, INFINITE, &mut states), SUCCESS);
    });
    assert_eq!(states[0].event, EMPTY | CHANGED);
    // A server that comes back is a card that was put in.
    let _server = Server::start(folder);
    states[0].current = EMPTY;
    assert_eq!(library.changes(context, INFINITE, &mut states), SUCCESS);
    assert_eq!(states[0].event, PRESENT | CHANGED);
});

scenario!(a_wait_ends_with_its_time, CARD, |folder| {
    let _server = Server::start(folder);
    let library = Library::load();
    let mut states = [
        ReaderState::new(READER, PRESENT),
        ReaderState::new(READER, PRESENT),
    ];
    assert_eq!(
        library.changes(library.context(), 150, &mut states),
        TIMEOUT
    );
});

scenario!(only_the_cancelled_context_ends_its_wait, CARD, |folder| {
    let mut server = Some(Server::start(folder));
    let library = Library::load();
    let (one, other) = (library.context(), library.context());
    // SAFETY: contexts are numbers.
    unsafe {
        // Nobody waits: no later wait ends by this.
        assert_eq!((library.cancel)(one), SUCCESS);
        let mut states = [ReaderState::new(READER, PRESENT)];
        assert_eq!(library.changes(one, 30, &mut states), TIMEOUT);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut states = [ReaderState::new(READER, PRESENT)];
                library.changes(one, INFINITE, &mut states)
            });
            // The first may come before the wait has begun.
            let ended = (0..2_000).any(|_| {
                assert_eq!((library.cancel)(other), SUCCESS);
                assert_eq!((library.cancel)(one), SUCCESS);
                std::thread::sleep(Duration::from_millis(5));
                waiting.is_finished()
            });
            if !ended {
                // A card that is pulled out ends it.
                server.take();
            }
            assert_eq!(waiting.join().unwrap(), CANCELLED);
        });
        // That call is over; the next one is another.
        assert_eq!(library.changes(one, 30, &mut states), TIMEOUT);
    }
});

scenario!(other_names_are_answered_as_pcsc_lite_does, CARD, |folder| {
    let _server = Server::start(folder);
    let library = Library::load();
    let context = library.context();
    let ask = |mut states: Vec<ReaderState>| {
        let code = library.changes(context, 0, &mut states);
        (
            code,
            states.iter().map(|state| state.event).collect::<Vec<_>>(),
        )
    };
    let readers = ReaderState::new(c"\\\\?PnP?\\Notification", 0);
    let ignored = ReaderState::new(c"another reader", 1);
    assert_eq!(ask(vec![readers.clone()]), (TIMEOUT, vec![0]));
    assert_eq!(ask(vec![ignored.clone()]), (SUCCESS, vec![1]));
    assert_eq!(
        ask(vec![readers, ignored, ReaderState::new(READER, 0)]),
        (SUCCESS, vec![0, 1, PRESENT | CHANGED])
    );
    assert_eq!(
        ask(vec![ReaderState::new(c"another reader", 0)]),
        (UNKNOWN_READER, vec![4])
    );
    assert_eq!(ask(Vec::new()), (SUCCESS, Vec::new()));
});
