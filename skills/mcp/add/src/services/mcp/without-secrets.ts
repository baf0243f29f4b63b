import type { McpServer } from '../../lib/mcp/config.ts';

/** A shorter value could be any word. */
const SHORTEST = 8;

/** Blots what a server was given as a key out of a text of the server's: some repeat it in their errors. */
export function withoutSecrets(server: McpServer, text: string): string {
  const given =
    server.kind === 'stdio'
      ? Object.values(server.env)
      : [
          ...Object.values(server.headers).flatMap((value) => [value, ...value.split(' ')]),
          ...new URL(server.url).searchParams.values(),
          server.oauth?.clientSecret ?? '',
        ];
  return given
    .filter((value) => value.length >= SHORTEST)
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, value) => rest.replaceAll(value, '[secret]'), text);
}
