import { expect, test } from 'vitest';
import { describeSchedule, nextRunAfter, readSchedule } from './schedule.ts';

const NOW = Date.parse('2026-11-21T12:00:30Z');

function read(kind: 'cron' | 'every' | 'at', text: string, timeZone = 'Europe/Berlin', now = NOW) {
  return readSchedule({ kind, text, timeZone }, now);
}

/** The next times after a moment, to the minute, in UTC. */
function times(pattern: string, timeZone: string, after: string, count: number): string[] {
  const schedule = read('cron', pattern, timeZone, Date.parse(after));
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count; ) {
    at = nextRunAfter(schedule, at) ?? Number.NaN;
    found.push(new Date(at).toISOString().slice(5, 16));
  }
  return found;
}

test('a time of day keeps to the clocks of its zone through both changes', () => {
  expect(times('0 8 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 2)).toEqual([
    '03-28T07:00',
    '03-29T06:00',
  ]);
  expect(times('0 8 * * *', 'Europe/Berlin', '2026-10-24T00:00:00Z', 2)).toEqual([
    '10-24T06:00',
    '10-25T07:00',
  ]);
  expect(times('0 8 * * *', 'Australia/Sydney', '2026-10-02T12:00:00Z', 2)).toEqual([
    '10-02T22:00',
    '10-03T21:00',
  ]);
});

test.for([
  ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:30']],
  ['Australia/Sydney', '30 2 * * *', '2026-10-03T12:00:00Z', ['10-03T16:00', '10-04T15:30']],
  ['America/Santiago', '0 0 * * *', '2026-09-05T12:00:00Z', ['09-06T04:00', '09-07T03:00']],
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T12:00:00Z', ['10-03T15:30', '10-04T15:15']],
  ['Europe/Berlin', '*/20 2 * * *', '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:00']],
  ['Europe/Berlin', '30 */2 * * *', '2026-03-28T23:45:00Z', ['03-29T01:00', '03-29T02:30']],
] as const)(
  'in %s, where the clocks skip a time, "%s" comes once, after it',
  ([timeZone, pattern, after, expected]) => {
    expect(times(pattern, timeZone, after, 2)).toEqual(expected);
  },
);

test.for([
  ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['10-25T00:30', '10-26T01:30']],
  ['Australia/Sydney', '30 2 * * *', '2026-04-04T12:00:00Z', ['04-04T15:30', '04-05T16:30']],
  ['America/Santiago', '30 23 * * *', '2026-04-04T12:00:00Z', ['04-05T02:30', '04-06T03:30']],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T12:00:00Z', ['04-04T14:45', '04-05T15:15']],
  [
    'Europe/Berlin',
    '*/30 2 * * *',
    '2026-10-24T23:45:00Z',
    ['10-25T00:00', '10-25T00:30', '10-26T01:00'],
  ],
  ['Europe/Berlin', '30 */2 * * *', '2026-10-24T23:45:00Z', ['10-25T00:30', '10-25T03:30']],
] as const)(
  'in %s, where the clocks repeat a time, "%s" comes the first time only',
  ([timeZone, pattern, after, expected]) => {
    expect(times(pattern, timeZone, after, expected.length)).toEqual(expected);
  },
);

test('a pattern for every hour follows elapsed time through the repeated hour', () => {
  expect(times('*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:15:00Z', 4)).toEqual([
    '10-25T00:30',
    '10-25T01:00',
    '10-25T01:30',
    '10-25T02:00',
  ]);
});

test('an interval counts from where it was made, and never drifts', () => {
  const schedule = read('every', 'every 90 minutes');
  expect(schedule.text).toBe('90 minutes');
  expect(nextRunAfter(schedule, NOW)).toBe(NOW + 90 * 60_000);
  const late = NOW + 90 * 60_000 + 17_123;
  expect(nextRunAfter(schedule, late)).toBe(NOW + 180 * 60_000);
  expect(nextRunAfter(schedule, NOW + 1_000 * 90 * 60_000)).toBe(NOW + 1_001 * 90 * 60_000);
});

test.for([
  ['every', '59 seconds'],
  ['every', '0 minutes'],
  ['every', '-5m'],
  ['every', 'now and then'],
  ['cron', '* * * * * *'],
  ['cron', '61 * * * *'],
  ['cron', 'daily at eight'],
  ['cron', ''],
] as const)('%s "%s" is refused with how to write it', ([kind, text]) => {
  expect(() => read(kind, text)).toThrow(/15 minutes|five fields/);
});

test('a pattern that never comes is refused', () => {
  expect(() => read('cron', '0 0 30 2 *')).toThrow('"0 0 30 2 *" never comes.');
});

test.for([
  ['2026-12-24T18:00', '2026-12-24T17:00:00.000Z'],
  ['2026-12-24 18:00:30', '2026-12-24T17:00:30.000Z'],
  ['2026-12-24T18:00Z', '2026-12-24T18:00:00.000Z'],
  ['2026-12-24T18:00-05:00', '2026-12-24T23:00:00.000Z'],
  ['in 20 minutes', '2026-11-21T12:20:30.000Z'],
  ['in 1 hour 30 minutes', '2026-11-21T13:30:30.000Z'],
  ['in 1 hour and 30 minutes', '2026-11-21T13:30:30.000Z'],
  ['2026-12-24T18:00:00.000Z', '2026-12-24T18:00:00.000Z'],
  ['2026-12-24T18:00+0100', '2026-12-24T17:00:00.000Z'],
  ['+2h', '2026-11-21T14:00:30.000Z'],
  // Skipped and repeated by the clocks of Berlin.
  ['2027-03-28T02:30', '2027-03-28T01:30:00.000Z'],
  ['2027-10-31T02:30', '2027-10-31T00:30:00.000Z'],
] as const)('once at "%s" is one moment', ([text, expected]) => {
  const schedule = read('at', text);
  expect(new Date(schedule.anchor).toISOString()).toBe(expected);
  expect(nextRunAfter(schedule, NOW)).toBe(schedule.anchor);
  expect(nextRunAfter(schedule, schedule.anchor)).toBeNull();
});

test.for(['2027-02-30T10:00', '2027-01-01', 'tomorrow', '2027-01-01T25:00', 'in a while'])(
  'once at "%s" is refused as no date and time',
  (text) => {
    expect(() => read('at', text)).toThrow('is not a date and time');
  },
);

test('once at a time in the past is refused, with what time it is', () => {
  expect(() => read('at', '2026-11-21T13:00')).toThrow(
    'Sat 21 Nov 2026, 13:00 is past: it is Sat 21 Nov 2026, 13:00 (Europe/Berlin) now.',
  );
});

test.for([
  ['Europe/Berln', 'Nearest: Europe/Berlin'],
  ['Berlin', 'Nearest: Europe/Berlin.'],
  ['new york', 'Nearest: America/New_York.'],
  ['+02:00', 'Name the zone'],
  ['', 'Name one such as Europe/Berlin'],
] as const)('the time zone "%s" is refused with a hint', ([timeZone, hint]) => {
  expect(() => read('cron', '0 8 * * *', timeZone)).toThrow(hint);
});

test('a time in a zone that is not known any more is shown all the same', () => {
  const schedule = { ...read('at', '2026-12-24T18:00'), timeZone: 'Europe/Atlantis' };
  expect(describeSchedule(schedule)).toBe('once at Thu 24 Dec 2026, 17:00 UTC (Europe/Atlantis)');
});

test('a schedule is described as its owner would say it', () => {
  expect(describeSchedule(read('every', '60 min'))).toBe('every hour');
  expect(describeSchedule(read('every', '14 days'))).toBe('every 2 weeks');
  expect(describeSchedule(read('cron', '0 8 * * 1-5', 'europe/berlin'))).toBe(
    'cron 0 8 * * 1-5 (Europe/Berlin)',
  );
  expect(describeSchedule(read('at', '2026-12-24T18:00'))).toBe(
    'once at Thu 24 Dec 2026, 18:00 (Europe/Berlin)',
  );
});
