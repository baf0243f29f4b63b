/** The host's log of events. Texts of chats and settings' values never go there. */
export interface HostLog {
  /** Left out by a log that keeps no such lines. */
  debug?(message: string, data?: Readonly<Record<string, unknown>>): void;
  info(message: string, data?: Readonly<Record<string, unknown>>): void;
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
  error(message: string, data?: Readonly<Record<string, unknown>>): void;
}
