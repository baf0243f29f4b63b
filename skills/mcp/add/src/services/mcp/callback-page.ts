import type { HttpResponse } from '../../http/route.ts';

/** Ends a login and shows how that went. What a server said is shown as text, never as a page. */
export async function callbackPage(finish: () => Promise<string>): Promise<HttpResponse> {
  try {
    const name = await finish();
    return page(200, `${name} is connected. You can close this page.`);
  } catch (error) {
    return page(400, error instanceof Error ? error.message : 'The login did not work.');
  }
}

function page(status: number, text: string): HttpResponse {
  const shown = text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const body = `<!doctype html><meta charset="utf-8"><title>Login</title><p>${shown}</p>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
