import type { Hook } from './hook.ts';

/** Writes the lines for a shell that call a hook as its sender does. They hold the secret. */
export function tryLines({ name, from, secret }: Hook, address: string): string {
  const url = `${address}/hooks/${name}`;
  const json = `-H 'content-type: application/json'`;
  switch (from) {
    case 'token':
      return `curl ${json} -H 'authorization: Bearer ${secret}' -d '{"text": "hello"}' ${url}`;
    case 'github':
      return [
        `body='{"action": "opened", "sender": {"login": "me"}, "issue": {"number": 1, "title": "A try"}}'`,
        `sum=$(printf %s "$body" | openssl dgst -sha256 -hmac '${secret}' -r | cut -d' ' -f1)`,
        `curl ${json} -H 'x-github-event: issues' -H "x-hub-signature-256: sha256=$sum" -d "$body" ${url}`,
      ].join('\n');
    case 'signed':
      return [
        `body='{"text": "hello"}'; at=$(date +%s); id=try-$at`,
        `sum=$(printf %s "$id.$at.$body" | openssl dgst -sha256 -mac HMAC -macopt hexkey:${hexOf(secret)} -binary | base64)`,
        `curl ${json} -H "webhook-id: $id" -H "webhook-timestamp: $at" -H "webhook-signature: v1,$sum" -d "$body" ${url}`,
      ].join('\n');
  }
}

function hexOf(secret: string): string {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64').toString('hex');
}
