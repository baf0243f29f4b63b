import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** A page on this machine alone. */
export interface CodePage {
  readonly url: string;
  show(svg: string): void;
  close(): Promise<void>;
}

const RENEWED_S = 3;

/** Serves the newest code under an address that nobody can guess; the page renews itself. */
export async function openCodePage(): Promise<CodePage> {
  let code = '';
  const path = `/${randomBytes(16).toString('hex')}`;
  const server = createServer((request, response) => {
    if (request.url !== path) return void response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    });
    response.end(pageOf(code));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    show(svg) {
      code = svg;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function pageOf(svg: string): string {
  return `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="${RENEWED_S}">
<title>WhatsApp</title><style>body{font-family:sans-serif;text-align:center}svg{width:24rem}</style>
<p>On the phone: WhatsApp, Linked devices, Link a device.</p>${svg}`;
}
