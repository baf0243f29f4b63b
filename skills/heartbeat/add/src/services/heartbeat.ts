import { localDay } from '../host/budget/local-day.ts';
import {
  type Delivery,
  defineService,
  type EndedTurn,
  type ServiceContext,
} from '../host/contracts/service.ts';
import { openAlarm } from '../host/scheduler/alarm.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { isActive } from '../lib/heartbeat/active-hours.ts';
import { HEARTBEAT_FILE, isEmptyOfWork } from '../lib/heartbeat/instructions.ts';
import { describeBeat, HeartbeatEnvironment } from '../lib/heartbeat/settings.ts';
import { isQuiet } from './heartbeat/answer.ts';
import { BEATS, type BeatOutcome, openBeats } from './heartbeat/beat-records.ts';
import { beatPrompt } from './heartbeat/prompt.ts';

/** A beat that passed while the assistant was down is made up for once, so long after the start. */
const AFTER_START_MS = 60_000;

/** Folders that may hold the list: the owner's own, then the one that all groups share. */
const FOLDERS = ['main', 'global'];

/** Lets the agent of the owner's chat look now and then at what HEARTBEAT.md lists. */
export const service = defineService({
  name: 'heartbeat',
  settings: HeartbeatEnvironment,
  start(context) {
    const { settings, store, log, now, setTimer, crash } = context;
    const timeZone = settings.HEARTBEAT_TIME_ZONE ?? context.timeZone;
    const everyMs = settings.HEARTBEAT_MINUTES * 60_000;
    const beats = openBeats(context.openDatabase(BEATS));
    const today = () => localDay(now(), timeZone);
    const alarm = openAlarm({
      now,
      setTimer,
      onDue: () => void beat().catch(crash),
      onClockMoved: () => wait(nextBeat()),
    });
    let next = now();

    function wait(moment: number): void {
      next = moment;
      alarm.set(moment);
    }

    /** A clock that was wrong neither holds the heart up for days nor lets it race. */
    function nextBeat(): number {
      const due = (beats.last() ?? now()) + everyMs;
      return Math.min(Math.max(due, now() + AFTER_START_MS), now() + everyMs);
    }

    async function beat(): Promise<void> {
      beats.begin(now());
      wait(now() + everyMs);
      const skipped = await tryBeat();
      if (skipped !== null) beats.count(today(), skipped);
    }

    /** Queues the turn. Returns why there is none. */
    async function tryBeat(): Promise<BeatOutcome | null> {
      if (!isActive(settings.HEARTBEAT_HOURS, now(), timeZone)) return 'asleep';
      const list = await findList(context);
      if (list === null) return 'empty';
      if (context.signal.aborted || isBusy(store)) return 'busy';
      const prompt = beatPrompt(settings.HEARTBEAT_PROMPT, list.place, list.text);
      context.queueTurn({
        folder: 'main',
        prompt,
        brings: 'own',
        context: settings.HEARTBEAT_CONTEXT,
      });
      return null;
    }

    function onTurnEnd({ outcome, error, text }: EndedTurn): Delivery {
      if (outcome === 'skipped') return count('unpaid', SILENT);
      if (error === 'CANCELLED') return SEND;
      if (outcome === 'failed' || outcome === 'gave_up') {
        const isTold = beats.isFailing();
        beats.setFailing(true);
        return count('failed', isTold ? SILENT : { kind: 'send', text: failureText(text) });
      }
      beats.setFailing(false);
      if (outcome === 'answered' && !isQuiet(text)) return count('said', SEND);
      log.debug?.('the heartbeat has nothing to say', { characters: text.length });
      return count('quiet', SILENT);
    }

    function count(outcome: BeatOutcome, delivery: Delivery): Delivery {
      beats.count(today(), outcome);
      return delivery;
    }

    wait(nextBeat());
    return {
      stop: () => alarm.set(null),
      status() {
        const today = describeCounts(beats.of(localDay(now(), timeZone)));
        return `${describeBeat(settings, timeZone)}; today ${today}; next ${localTime(next, timeZone)}`;
      },
      onTurnEnd,
    };
  },
});

const SILENT: Delivery = { kind: 'silent' };
const SEND: Delivery = { kind: 'send' };

async function findList({
  readGroupFile,
}: ServiceContext): Promise<{ readonly place: string; readonly text: string } | null> {
  for (const folder of FOLDERS) {
    const text = await readGroupFile(folder, [HEARTBEAT_FILE]);
    if (text !== null && !isEmptyOfWork(text))
      return { place: `${folder}/${HEARTBEAT_FILE}`, text };
  }
  return null;
}

/** A beat waits for nobody and keeps nobody waiting: also an earlier one that has not ended counts. */
function isBusy({ groups, turns }: ServiceContext['store']): boolean {
  const own = groups.all().filter(({ isMain }) => isMain);
  return own.length === 0 || own.some(({ jid }) => turns.isOpen(jid));
}

function failureText(reason: string): string {
  return `The heartbeat failed: ${reason}\n\nIt goes on; while it goes on failing, that is only counted in \`/status\`.`;
}

const WORDS: Readonly<Record<BeatOutcome, string>> = {
  quiet: 'quiet',
  said: 'with something to say',
  failed: 'failed',
  unpaid: 'skipped (budget)',
  busy: 'skipped (chat busy)',
  asleep: 'outside the hours',
  empty: `skipped (${HEARTBEAT_FILE} lists nothing)`,
};

function describeCounts(counts: Readonly<Partial<Record<BeatOutcome, number>>>): string {
  const told = Object.entries(WORDS).flatMap(([outcome, words]) => {
    const number = counts[outcome as BeatOutcome];
    return number === undefined ? [] : [`${number} ${words}`];
  });
  return told.length === 0 ? 'none yet' : told.join(', ');
}
