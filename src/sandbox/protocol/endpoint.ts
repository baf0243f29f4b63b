/** The way from an agent to its host: the mounted socket, or an address with the token that it has to show. */
export type Endpoint =
  | { readonly kind: 'socket' }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly token: string };

/** The header that holds the token, on each request of the agent. */
export const TOKEN_HEADER = 'x-claw-token';

/** Returns the variables of an agent's environment that tell it of its host. */
export function endpointVariables(endpoint: Endpoint): Readonly<Record<string, string>> {
  if (endpoint.kind === 'socket') return {};
  const { host, port, token } = endpoint;
  return { CLAW_HOST: host, CLAW_PORT: String(port), CLAW_TOKEN: token };
}

/** Reads those variables; without them it is the socket. */
export function endpointIn(environment: Readonly<Record<string, string | undefined>>): Endpoint {
  const { CLAW_HOST: host, CLAW_PORT: port, CLAW_TOKEN: token } = environment;
  if (host === undefined || port === undefined || token === undefined) return { kind: 'socket' };
  return { kind: 'tcp', host, port: Number(port), token };
}
