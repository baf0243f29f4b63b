import { z } from 'zod';
import type { ServiceContext } from '../../host/contracts/service.ts';
import type { HttpResponse } from '../../http/route.ts';

const Place = z.object({
  jid: z.string().max(300),
  kind: z.enum(['message', 'answer']),
  seq: z.coerce.number().int().nonnegative(),
  number: z.coerce.number().int().nonnegative(),
});

/** Pictures without anything that could run. All else, such as SVG, is a download. */
const SHOWN = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Answers with a file of a chat's history: a picture to look at, or a download, and in a sandbox without any right. */
export async function answerWithFile(
  { owner }: Pick<ServiceContext, 'owner'>,
  query: URLSearchParams,
): Promise<HttpResponse> {
  const { data: place } = Place.safeParse(Object.fromEntries(query));
  if (place === undefined) return { status: 400, body: 'There is no such file.\n' };
  const { jid, kind, seq, number } = place;
  const found = await owner.file(jid, kind, seq, number).catch(() => undefined);
  // Its far end did not give it: another time it may.
  if (found === undefined) return { status: 502, body: 'This file could not be fetched now.\n' };
  if (found === null) return { status: 404, body: 'This file is not kept any more.\n' };
  const isShown = SHOWN.includes(found.mimeType);
  // A name from a messenger may have half a character in it, which no address can have.
  const name = encodeURIComponent(found.name.toWellFormed()).replace(/['()*]/g, '_');
  return {
    headers: {
      'content-type': isShown ? found.mimeType : 'application/octet-stream',
      'content-disposition': `${isShown ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cache-control': 'private, max-age=3600',
    },
    body: found.content,
  };
}
