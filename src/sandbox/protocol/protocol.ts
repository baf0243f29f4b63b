/** Constants that both sides need before the first frame. Imports nothing, so that an agent starts at once. */
export const PROTOCOL = 1;
export const MAX_FRAME_BYTES = 1_048_576;

/** The host's socket, in every kind of container. */
export const HOST_SOCKET = '/run/claw/host.sock';
