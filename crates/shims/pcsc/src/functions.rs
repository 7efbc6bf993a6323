//! Every function that is answered here or passed on, in one list.

/// Gives the list to a macro: what the function is called and takes, its name in a trace, who answers
/// for the served card, and what the trace keeps.
macro_rules! functions {
    ($declared:ident) => {
        $declared! {
            fn SCardEstablishContext = EstablishContext(scope: Dword, reserved1: *const c_void, reserved2: *const c_void, context: *mut Context), virtually establish_context, keeping nothing;
            fn SCardReleaseContext = ReleaseContext(context: Context), virtually release_context, keeping nothing;
            fn SCardIsValidContext = IsValidContext(context: Context), virtually is_valid_context, keeping nothing;
            fn SCardListReaders = ListReaders(context: Context, groups: *const c_char, readers: *mut c_char, length: *mut Dword), virtually list_readers, keeping nothing;
            fn SCardListReaderGroups = ListReaderGroups(context: Context, groups: *mut c_char, length: *mut Dword), virtually list_reader_groups, keeping nothing;
            fn SCardFreeMemory = FreeMemory(context: Context, memory: *const c_void), virtually free_memory, keeping nothing;
            fn SCardGetStatusChange = GetStatusChange(context: Context, timeout: Dword, states: *mut ReaderState, count: Dword), virtually get_status_change, keeping nothing;
            fn SCardCancel = Cancel(context: Context), virtually cancel, keeping nothing;
            fn SCardConnect = Connect(context: Context, reader: *const c_char, share: Dword, protocols: Dword, handle: *mut Handle, active: *mut Dword), virtually connect, keeping nothing;
            fn SCardReconnect = Reconnect(handle: Handle, share: Dword, protocols: Dword, initialization: Dword, active: *mut Dword), virtually reconnect, keeping nothing;
            fn SCardDisconnect = Disconnect(handle: Handle, disposition: Dword), virtually disconnect, keeping nothing;
            fn SCardStatus = Status(handle: Handle, reader: *mut c_char, reader_length: *mut Dword, state: *mut Dword, protocol: *mut Dword, atr: *mut u8, atr_length: *mut Dword), virtually status, keeping nothing;
            fn SCardBeginTransaction = BeginTransaction(handle: Handle), virtually begin_transaction, keeping nothing;
            fn SCardEndTransaction = EndTransaction(handle: Handle, disposition: Dword), virtually end_transaction, keeping nothing;
            fn SCardTransmit = Transmit(handle: Handle, send_header: *const IoRequest, send: *const u8, send_length: Dword, receive_header: *mut IoRequest, receive: *mut u8, receive_length: *mut Dword), virtually transmit, keeping header;
            fn SCardControl = Control(handle: Handle, code: Dword, send: *const c_void, send_length: Dword, receive: *mut c_void, receive_length: Dword, returned: *mut Dword), virtually control, keeping nothing;
            fn SCardGetAttrib = GetAttrib(handle: Handle, attribute: Dword, value: *mut u8, length: *mut Dword), virtually get_attrib, keeping nothing;
            fn SCardSetAttrib = SetAttrib(handle: Handle, attribute: Dword, value: *const u8, length: Dword), virtually set_attrib, keeping nothing;
        }
    };
}
pub(crate) use functions;
