/** The place of a line: a serial device, or a server that hands one on over TCP, such as ser2net. */
export type SerialPort =
  | { readonly kind: 'device'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number };

/** Reads a port as it is written in `.env`; null where it is none. */
export function parsePort(typed: string): SerialPort | null {
  if (/^\/[^\0]+$/.test(typed)) return { kind: 'device', path: typed };
  const [, host, digits] =
    /^tcp:\/\/(\[[0-9a-fA-F:.]+\]|[^\s/:[\]]+):(\d{1,5})\/?$/.exec(typed) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return null;
  return { kind: 'tcp', host: host.replace(/^\[|\]$/g, ''), port };
}

/** Names a port for the owner. */
export function nameOf(port: SerialPort): string {
  return port.kind === 'device' ? port.path : `${port.host}:${port.port}`;
}
