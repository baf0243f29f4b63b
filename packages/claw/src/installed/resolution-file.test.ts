import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { digestBytes } from '../digest.ts';
import { ClawError } from '../errors.ts';
import { type Answer, resolutionKey, type Subject } from './resolution.ts';
import {
  parseDecision,
  parseResolution,
  renderAnswered,
  renderDecision,
} from './resolution-file.ts';

const DIGEST = digestBytes('x');
const SUBJECT: Subject = {
  path: 'src/a.ts',
  kind: 'content',
  layers: ['core', 'a'],
  sides: { base: DIGEST, ours: DIGEST, theirs: `${DIGEST} +x` },
};
const PLACE = '.claw/resolutions/0123456789abcdef.yaml';

function readBack(subject: Subject, answer: Answer) {
  const bytes = renderAnswered({ subject, answer, origin: 'owner' });
  return parseResolution(bytes, {
    key: resolutionKey(subject, answer),
    place: PLACE,
    pinned: null,
  });
}

/** Returns the outcome of reading some bytes: a recording, or the only error there is. */
function attempt(bytes: Buffer): 'read' | 'refused' {
  try {
    parseResolution(bytes, { key: '0123456789abcdef', place: PLACE, pinned: null });
    return 'read';
  } catch (error) {
    expect(error).toBeInstanceOf(ClawError);
    expect(error).toMatchObject({ code: 'RESOLUTION_INVALID', path: PLACE });
    expect((error as ClawError).message).toMatch(/forget|abort/);
    return 'refused';
  }
}

test('whatever resolves a hunk comes back to the byte: odd bytes, line ends, no newline, nothing', () => {
  const line = fc.oneof(
    fc.constantFrom(
      'a\n',
      'b\r\n',
      '\n',
      '  - x: y\n',
      '#\n',
      '\xff\xfe\n',
      '\u00e9\n',
      '\t\n',
      '... \n',
    ),
    fc.string().map((text) => `${Buffer.from(text.replaceAll('\n', '')).toString('latin1')}\n`),
  );
  const side = fc.array(line, { maxLength: 4 });
  const last = fc.constantFrom([], ['no newline'], ['caf\xc3\xa9'], [' ']);
  const lines = fc.tuple(side, last).map(([some, end]) => [...some, ...end]);
  const hunk = fc.record({ base: lines, ours: lines, theirs: lines, resolved: lines });
  fc.assert(
    fc.property(fc.array(hunk, { minLength: 1, maxLength: 3 }), (hunks) => {
      const answer = { kind: 'hunks', hunks } as const;
      const answered = { subject: SUBJECT, answer, origin: 'owner' };
      expect(readBack(SUBJECT, answer)).toMatchObject(answered);
      expect(parseDecision(Buffer.from(renderDecision(answered)), PLACE)).toEqual(answered);
    }),
  );
});

test('a decision that an older engine left as YAML is read, and garbage is refused', () => {
  const hunk = { base: ['a\n'], ours: ['b\n'], theirs: ['c\n'], resolved: ['b\n', 'c\n'] };
  const answer = { kind: 'hunks', hunks: [hunk] } as const;
  const answered = { subject: SUBJECT, answer, origin: 'owner' };
  expect(parseDecision(renderAnswered(answered), PLACE)).toEqual(answered);
  for (const text of [
    '{[',
    'null',
    '{}',
    renderDecision(answered).replace('src/a.ts', '../a.ts'),
  ]) {
    expect(() => parseDecision(Buffer.from(text), PLACE)).toThrow(ClawError);
  }
});

test('a file, a deletion and a value come back', () => {
  const file = { bytes: Buffer.from([0, 255, 10]), isExecutable: true };
  for (const answer of [{ kind: 'file', file } as const, { kind: 'file', file: null } as const]) {
    expect(readBack({ ...SUBJECT, kind: 'binary' }, answer).answer).toEqual(answer);
  }
  const subject: Subject = { ...SUBJECT, kind: 'structured', path: 'package.json#dependencies.a' };
  expect(readBack(subject, { kind: 'value', value: '^1.0.0' }).answer).toMatchObject({
    value: '^1.0.0',
  });
});

test('no garbage gets further than RESOLUTION_INVALID', () => {
  const known = renderAnswered({
    subject: SUBJECT,
    answer: { kind: 'hunks', hunks: [{ base: [], ours: ['a\n'], theirs: ['b\n'], resolved: [] }] },
    origin: 'owner',
  });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
        fc.anything().map((value) => Buffer.from(toYaml(value))),
        // The real thing with something else in one place.
        fc
          .tuple(fc.nat(known.length), fc.nat(20), fc.string())
          .map(([at, length, text]) =>
            Buffer.concat([known.subarray(0, at), Buffer.from(text), known.subarray(at + length)]),
          ),
      ),
      (bytes) => {
        expect(attempt(bytes)).toBe('refused');
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  ['a path that leaves the project', { path: '../a' }],
  ['a path of the engine’s own that is not a path', { path: 'a\\b' }],
  ['an unknown kind', { kind: 'magic' }],
  ['a digest that is none', { sides: { base: 'sha256:1', ours: 'absent', theirs: 'absent' } }],
  ['an unknown key', { more: 1 }],
  ['a value for a text', { hunks: undefined, value: 1 }],
])('%s is refused', (_name, change) => {
  const hunks = [{ base: '', ours: 'a\n', theirs: 'b\n', resolved: 'c\n' }];
  const content = { ...SUBJECT, origin: 'owner', hunks, ...change };
  expect(attempt(Buffer.from(JSON.stringify(content)))).toBe('refused');
});

function toYaml(value: unknown): string {
  try {
    return String(stringify(value));
  } catch {
    // Not everything can be written as YAML; then it is no YAML that is read.
    return String(Object.prototype.toString.call(value));
  }
}
