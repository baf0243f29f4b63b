import { testChannel } from '../../../testing/channel/conformance.ts';
import { NOTATIONS } from '../../../testing/channel/shown.ts';
import { CONTENT } from '../../../testing/whatsapp/content.ts';
import { startWhatsAppFarEnd } from '../../../testing/whatsapp/far-end.ts';

const LINKED = 'the owner links it; there is no token';
const OPEN = 'the channel passes on all messages, and the owner’s /allow decides';
const OWN_PACE = 'WhatsApp asks for no pauses; the channel sends slowly by itself (throttle.ts)';

testChannel({
  name: 'whatsapp',
  limit: 4_000,
  notation: NOTATIONS.asterisks,
  lacks: {
    restored:
      'its keys move on with each message: what one link has read, an older copy of it cannot read (store/backup)',
    acknowledged: 'a message is stored in data/whatsapp/link.db before it is acknowledged',
    closed: OPEN,
    strangers: OPEN,
    'wrong token': LINKED,
    'revoked token': 'a removed device becomes unpaired (session/connection.slow.test.ts)',
    'parts once': OWN_PACE,
    'retry-after': OWN_PACE,
    'no retry-after': OWN_PACE,
    gone: 'WhatsApp accepts messages to numbers that no longer exist',
  },
  content: CONTENT,
  start: startWhatsAppFarEnd,
});
