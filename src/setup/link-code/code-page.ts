import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** A page on this machine alone. */
export interface CodePage {
  readonly url: string;
  /** Shows a code in place of the one before. */
  show(svg: string): void;
  /** Shows the ending on pages that are open, and closes the server. */
  close(ending: string): Promise<void>;
}

/** Reload interval of a page without scripts; with scripts it learns of each new code at once. */
const RENEWED_S = 3;
/** Time for an open page to fetch the ending before the server closes. */
const ENDING_MS = 2_000;

/** The words of a page: the far end's name, and the steps on the phone. */
export type CodePageWords = { readonly title: string; readonly how: string };

/** Serves the newest code under an address with a random part. */
export async function openCodePage(words: CodePageWords): Promise<CodePage> {
  let shown: ShownCode = { code: '', ending: null };
  const watching = new Set<ServerResponse>();
  const { promise: wasRead, resolve: noteRead } = Promise.withResolvers<void>();
  const path = `/${randomBytes(16).toString('hex')}`;
  const nonce = randomBytes(16).toString('base64');

  function change(next: ShownCode): void {
    shown = next;
    for (const response of watching) response.write('data: another code\n\n');
  }

  const server = createServer((request, response) => {
    if (request.url === `${path}/changes`) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(': open\n\n');
      watching.add(response);
      response.once('close', () => watching.delete(response));
    } else if (request.url === path) {
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'`,
      });
      response.end(pageOf(shown, { ...words, path, nonce }));
      if (shown.ending !== null) response.once('finish', noteRead);
    } else {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    show: (code) => change({ code, ending: null }),
    async close(ending) {
      const isWatched = watching.size > 0;
      change({ code: '', ending });
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, isWatched ? ENDING_MS : 0);
      await Promise.race([wasRead, isLate]);
      clearTimeout(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}

type ShownCode = { readonly code: string; readonly ending: string | null };

type Page = CodePageWords & { readonly path: string; readonly nonce: string };

function pageOf({ code, ending }: ShownCode, page: Page): string {
  const { title, nonce } = page;
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>
<style nonce="${nonce}">
  body { font: 1.1rem sans-serif; color: #111; background: #fff; text-align: center; margin: 2rem }
  svg { width: min(24rem, 90vw); height: auto }
</style>
${ending === null ? waiting(code, page) : `<p>${escaped(ending)}</p>`}
</html>`;
}

function waiting(code: string, { title, how, path, nonce }: Page): string {
  const text =
    code === ''
      ? `<p>Waiting for a code from ${escaped(title)} …</p>`
      : `<p>${escaped(how)}</p>${code}`;
  return `<noscript><meta http-equiv="refresh" content="${RENEWED_S}"></noscript>
${text}
<script nonce="${nonce}">
  new EventSource('${path}/changes').onmessage = () => location.reload();
</script>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
