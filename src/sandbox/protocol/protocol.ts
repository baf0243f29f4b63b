/** What both sides know of each other before the first frame; of nothing else, so that an agent starts at once. */
export const PROTOCOL = 1;
export const MAX_FRAME_BYTES = 1_048_576;

/** Where the agent finds the host, in every kind of container. */
export const HOST_SOCKET = '/run/claw/host.sock';
