import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  OAuthClientInformationFullSchema,
  type OAuthClientInformationMixed,
  OAuthTokensSchema,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import type { HttpServer } from '../../lib/mcp/config.ts';

// Loose: the library keeps fields of its own in them.
const Kept = z.object({
  /** The address that the tokens are for: another server of the same name gets none of them. */
  url: z.string(),
  redirect: z.string(),
  client: OAuthClientInformationFullSchema.partial()
    .required({ client_id: true })
    .loose()
    .optional(),
  tokens: OAuthTokensSchema.loose().optional(),
  verifier: z.string().optional(),
  state: z.string().optional(),
});
type Kept = z.output<typeof Kept>;

export type OAuthOptions = {
  readonly dataDir: string;
  readonly server: HttpServer;
  readonly redirectUrl: string;
  readonly assistantName: string;
  /** Called with the page on which the owner has to agree. */
  readonly onLogin: (page: URL) => void;
};

/** The owner's consent to use a server, kept on disk for them alone. */
export interface OAuthSession extends OAuthClientProvider {
  /** Tells whether an answer of the browser belongs to what was asked last. */
  isExpected(state: string | null): boolean;
}

/** Opens what is kept of a server's OAuth. Nothing is asked before the server wants it. */
export function openOAuth({
  dataDir,
  server,
  redirectUrl,
  assistantName,
  onLogin,
}: OAuthOptions): OAuthSession {
  const path = oauthFile(dataDir, server.name);
  const { clientId, clientSecret, scope, issuer } = server.oauth ?? {};
  let kept = read(path, server.url);
  // A client is registered for one address to come back to.
  if (kept.redirect !== redirectUrl)
    kept = { url: server.url, redirect: redirectUrl, tokens: kept.tokens };

  function keep(change: Partial<Kept>): void {
    kept = { ...kept, ...change, redirect: redirectUrl };
    mkdirSync(join(dataDir, 'mcp', 'oauth'), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, JSON.stringify(kept), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  return {
    redirectUrl,
    clientMetadata: {
      client_name: assistantName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_post',
      ...(scope === undefined ? {} : { scope }),
    },
    state() {
      const state = randomBytes(24).toString('base64url');
      keep({ state });
      return state;
    },
    isExpected: (state) => kept.state !== undefined && digest(kept.state) === digest(state ?? ''),
    clientInformation() {
      if (kept.client !== undefined) return kept.client as OAuthClientInformationMixed;
      if (clientId === undefined) return undefined;
      return {
        client_id: clientId,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
        ...(issuer === undefined ? {} : { issuer }),
      };
    },
    saveClientInformation: (client) => keep({ client }),
    tokens: () => kept.tokens as z.output<typeof OAuthTokensSchema> | undefined,
    saveTokens: (tokens) => keep({ tokens, state: undefined, verifier: undefined }),
    redirectToAuthorization: onLogin,
    saveCodeVerifier: (verifier) => keep({ verifier }),
    codeVerifier() {
      if (kept.verifier === undefined) throw new Error('No login was begun.');
      return kept.verifier;
    },
    invalidateCredentials(what) {
      if (what === 'all' || what === 'client') keep({ client: undefined });
      if (what === 'all' || what === 'tokens') keep({ tokens: undefined });
      if (what === 'all' || what === 'verifier') keep({ verifier: undefined });
    },
  };
}

/** Forgets the tokens of a server. */
export function forgetOAuth(dataDir: string, name: string): void {
  rmSync(oauthFile(dataDir, name), { force: true });
}

function oauthFile(dataDir: string, name: string): string {
  return join(dataDir, 'mcp', 'oauth', `${name}.json`);
}

function read(path: string, url: string): Kept {
  const nothing = { url, redirect: '' };
  try {
    const kept = Kept.parse(JSON.parse(readFileSync(path, 'utf8')));
    return kept.url === url ? kept : nothing;
  } catch {
    return nothing; // Nothing was kept so far: the owner logs in again.
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
