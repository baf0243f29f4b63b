import { isTooDeep } from '../../lib/json-depth.ts';
import type { Frame } from '../channel.ts';

/**
 * Reads JSON that is a frame of a program at the far end: it names its kind in `frame`, and has no `content`, unlike
 * a message. Null for anything else, and for JSON that is nested too deeply.
 */
export function frameIn(json: unknown): Frame['body'] | null {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  const body: Frame['body'] = { ...json };
  const isFrame = typeof body['frame'] === 'string' && !('content' in body);
  return isFrame && !isTooDeep(body) ? body : null;
}
