import { probeModel } from '../model/completion.ts';
import { missingKey } from '../model/failure.ts';
import { type Examination, type Finding, ill, well } from './examination.ts';

const TIMEOUT_MS = 20_000;
const ADVICE = '`claw setup` sets key and model; until then no agent answers.';
/** Beyond this, certificates and WhatsApp's handshakes begin to fail. */
const MAX_DRIFT_MS = 120_000;

/** One real answer of a few tokens: whether address, key and model's name belong together. */
export const examination: Examination = {
  area: 'model',
  order: 20,
  async examine({ settings, isOffline, now }) {
    if (settings === null) return [];
    const { model } = settings;
    const name = `${model.provider}/${model.model}`;
    const noKey = missingKey(model);
    if (noKey !== null) return [ill('model', noKey.message, ADVICE), ...clock(null)];
    if (isOffline) return [well('model', `${name}, not asked`), ...clock(null)];
    const startedAt = performance.now();
    const probe = await probeModel(model, TIMEOUT_MS);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const drift = probe.serverTime === null ? null : now() - probe.serverTime;
    const answer = probe.ok
      ? well('model', `${name} answered in ${seconds} s`)
      : ill('model', probe.message, ADVICE);
    return [answer, ...clock(drift)];
  },
};

/** The time zone, and the clock against that of the model's server, which says it to the second. */
function clock(driftMs: number | null): readonly Finding[] {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const zone = timeZone
    ? well('clock', `time zone ${timeZone}`)
    : well(
        'clock',
        'the time zone is not known; tasks go by UTC',
        'Set TZ in the environment, such as TZ=Europe/Berlin.',
      );
  if (driftMs === null) return [zone];
  if (Math.abs(driftMs) <= MAX_DRIFT_MS) {
    return [{ ...zone, message: `${zone.message}, and the clock is right` }];
  }
  const minutes = Math.round(Math.abs(driftMs) / 60_000);
  const way = driftMs > 0 ? 'fast' : 'slow';
  return [
    zone,
    ill(
      'clock',
      `The clock is ${minutes} minutes ${way}, says the model's server.`,
      'Set it (`timedatectl set-ntp true`): secure connections and WhatsApp break, tasks come at the wrong time.',
    ),
  ];
}
