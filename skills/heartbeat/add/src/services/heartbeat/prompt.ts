import { HEARTBEAT_FILE } from '../../lib/heartbeat/instructions.ts';
import { ALL_WELL } from './answer.ts';

const USUAL = `This is your heartbeat. Look at what ${HEARTBEAT_FILE} below asks for, and do it now with your tools. It is the whole list: take up nothing from earlier that it does not name, and say nothing twice that the owner has heard already.`;

/** Returns the task of a beat: the owner's own words or the usual ones, how to stay quiet, and the list. */
export function beatPrompt(own: string | undefined, place: string, list: string): string {
  const quiet = `If nothing needs the owner's attention, answer ${ALL_WELL} and nothing else; the owner is then not disturbed. Otherwise answer with what the owner should know, without that word.`;
  return [own ?? USUAL, quiet, `${place} says:\n${upToLimit(list.trim())}`].join('\n\n');
}

/** Every beat pays for the whole list. */
const LIST_LIMIT = 20_000;

function upToLimit(list: string): string {
  if (list.length <= LIST_LIMIT) return list;
  return `${list.slice(0, LIST_LIMIT)}\n(The rest is left out: the list is too long. Tell the owner.)`;
}
