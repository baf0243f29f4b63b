// Channels find the words here; what is not a channel has them from lib.
export { causeInWords, codeOf } from '../../lib/cause.ts';
