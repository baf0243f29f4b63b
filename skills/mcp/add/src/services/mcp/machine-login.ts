import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { HttpServer } from '../../lib/mcp/config.ts';

/** Returns the login of a client that needs no person to agree; null where a person logs in. */
export function machineLogin({ oauth }: HttpServer): OAuthClientProvider | null {
  if (oauth?.grant !== 'client_credentials' || oauth.clientId === undefined) return null;
  const { clientId, clientSecret, privateKey, algorithm = 'ES256', scope, issuer } = oauth;
  const common = {
    clientId,
    ...(scope === undefined ? {} : { scope }),
    ...(issuer === undefined ? {} : { expectedIssuer: issuer }),
  };
  if (privateKey !== undefined)
    return new PrivateKeyJwtProvider({ ...common, privateKey, algorithm });
  if (clientSecret === undefined) return null;
  return new ClientCredentialsProvider({ ...common, clientSecret });
}
