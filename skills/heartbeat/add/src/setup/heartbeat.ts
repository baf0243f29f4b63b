import { describeHours, isTimeZone, parseActiveHours } from '../lib/heartbeat/active-hours.ts';
import { describeBeat, HeartbeatEnvironment, HOURS_PROBLEM } from '../lib/heartbeat/settings.ts';
import { defineSetup, type OwnSettings, type SetupContext } from './step.ts';

/** Asks how often and when the assistant looks at its list by itself. */
export const setup = defineSetup({
  name: 'heartbeat',
  help: 'how often, and from when to when, the assistant looks at HEARTBEAT.md by itself',
  settings: HeartbeatEnvironment,
  currentState: ({ settings }) => describeBeat(settings, zoneOf(settings)),
  run: setUpHeartbeat,
});

type Settings = OwnSettings<typeof HeartbeatEnvironment.shape>['settings'];

async function setUpHeartbeat({
  ask,
  write,
  settings,
  settingsWith,
}: SetupContext & OwnSettings<typeof HeartbeatEnvironment.shape>) {
  const minutes = await ask({
    message: 'Every how many minutes',
    proposed: String(settings.HEARTBEAT_MINUTES),
    check: minutesProblem,
  });
  const hours = await ask({
    message: 'From when to when (00:00-24:00 is all day)',
    proposed: describeHours(settings.HEARTBEAT_HOURS)
      .replace('all day', '00:00-24:00')
      .replace('–', '-'),
    check: (typed) => (parseActiveHours(typed) === null ? `Hours ${HOURS_PROBLEM}.` : null),
  });
  const zone = await ask({
    message: 'In which time zone',
    proposed: zoneOf(settings),
    check: (typed) => (isTimeZone(typed) ? null : 'Name a time zone, such as Europe/Berlin.'),
  });
  const chosen = {
    HEARTBEAT_MINUTES: minutes.trim(),
    HEARTBEAT_HOURS: hours.trim(),
    HEARTBEAT_TIME_ZONE: zone,
  };
  write(chosen);
  const when = describeBeat(settingsWith(chosen), zone);
  return {
    summary: `The assistant looks ${when} at groups/main/HEARTBEAT.md. Write into it what to look at, or ask the assistant to.`,
    data: chosen,
  };
}

function minutesProblem(typed: string): string | null {
  const read = HeartbeatEnvironment.shape.HEARTBEAT_MINUTES.safeParse(typed);
  return read.success ? null : `It ${read.error.issues[0]?.message}.`;
}

function zoneOf({ HEARTBEAT_TIME_ZONE: zone }: Settings): string {
  return zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
