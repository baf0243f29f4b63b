// Channels find the words here; what is no channel has them from lib.
export { causeInWords, codeOf } from '../../lib/cause.ts';
