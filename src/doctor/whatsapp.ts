import { readLinkState } from '../channels/whatsapp/session/link-state.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';
import { lastChannelState } from './last-state.ts';

const AREA = 'whatsapp';
const AGAIN = '`npx claw setup whatsapp --again` pairs it again.';

/** Checks the link to WhatsApp: the paired account, and the state that the running assistant logged last. */
export const examination: Examination = {
  area: AREA,
  order: 40,
  async examine(subject) {
    const link = readLinkState(subject.dataDir);
    switch (link.kind) {
      case 'absent':
      case 'unpaired':
        return [ok(AREA, 'not paired; `npx claw setup whatsapp` links it to your phone')];
      case 'removed':
        return [
          problem(
            AREA,
            'The phone has removed this device.',
            '`npx claw setup whatsapp` pairs it again.',
          ),
        ];
      case 'in-use':
        return [stateFinding(subject, 'paired')];
      case 'paired':
        return [stateFinding(subject, `paired with +${link.phoneNumber}`)];
    }
  },
};

function stateFinding({ dataDir }: Subject, paired: string): Finding {
  if (!isRunning(dataDir)) return ok(AREA, paired);
  const last = lastChannelState(dataDir, 'whatsapp');
  if (last === null) return ok(AREA, `${paired}; the log says nothing of its state`);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected') return ok(AREA, `${paired}, connected since ${since}`);
  const message = `${paired}, but ${last.state} since ${since}. ${last.detail ?? ''}`.trim();
  if (last.state === 'connecting') {
    return ok(AREA, message, 'It tries again by itself; `npx claw logs -f` shows it.');
  }
  return problem(AREA, message, `\`npx claw logs --level warn\` tells more. ${AGAIN}`);
}
