import { testChannel } from '../../../testing/channel/conformance.ts';
import { NOTATIONS } from '../../../testing/channel/shown.ts';
import { CONTENT } from '../../../testing/whatsapp/content.ts';
import { startWhatsAppFarEnd } from '../../../testing/whatsapp/far-end.ts';

const LINKED = 'the owner links it, and gives it no token';
const OPEN = 'it hands over all messages, and the owner’s /allow decides on them';
const OWN_PACE = 'WhatsApp names no pauses; the channel sends slowly by itself (throttle.ts)';

testChannel({
  name: 'whatsapp',
  limit: 4_000,
  notation: NOTATIONS.asterisks,
  lacks: {
    restored:
      'its keys move on with each message: what one link has read, an older copy of it cannot read (store/backup)',
    acknowledged: 'it keeps a message in data/whatsapp/link.db before it acknowledges it',
    closed: OPEN,
    strangers: OPEN,
    'wrong token': LINKED,
    'revoked token': 'a device that is removed is unpaired (session/connection.slow.test.ts)',
    'parts once': OWN_PACE,
    'retry-after': OWN_PACE,
    'no retry-after': OWN_PACE,
    gone: 'WhatsApp takes messages to numbers that are gone',
  },
  content: CONTENT,
  start: startWhatsAppFarEnd,
});
