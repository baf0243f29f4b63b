import { expect, test } from 'vitest';
import {
  addedErrors,
  failingFiles,
  failingTests,
  failureText,
  plainText,
} from './failing-tests.ts';

const VITEST = ` ❯ skills/x/tests/a.test.ts (4 tests | 2 failed) 29ms
   ✓ passes 1ms
     × inner fails 13ms
⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  skills/x/tests/b.test.ts [ skills/x/tests/b.test.ts ]
Error: Cannot find module './nowhere.ts' imported from /view/skills/x/tests/b.test.ts
 ❯ skills/x/tests/b.test.ts:1:1
      1| import "./nowhere.ts";
       | ^

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯


⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  skills/x/tests/a.test.ts > outer > inner fails
AssertionError: expected 1 to be 2

- Expected
+ Received

- 2
+ 1

 ❯ skills/x/tests/a.test.ts:3:77
      1| import { test } from 'vitest';

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[2/2]⎯

 Test Files  2 failed (2)
`;

const NODE_SPEC = `✔ passes (1.1ms)
▶ outer
  ✖ inner fails (1.5ms)
✖ outer (4.4ms)
ℹ tests 3

✖ failing tests:

test at skills/x/tests/a.test.mjs:3:27
✖ inner fails (1.517309ms)
  AssertionError [ERR_ASSERTION]: 1 == 2
      at Test.run (node:internal/test_runner/test:1402:25)
      at TestContext.<anonymous> (skills/x/tests/a.test.mjs:3:62) {
    generatedMessage: true
  }

test at skills/x/tests/a.test.mjs:4:1
✖ throws (5.5ms)
  Error: no good
      at TestContext.<anonymous> (skills/x/tests/a.test.mjs:4:58)
`;

const NODE_WHOLE_FILE = `skills/x/tests/b.test.mjs:1
throw new Error("at top")
      ^

Error: at top
    at skills/x/tests/b.test.mjs:1:7
    at ModuleJob.run (node:internal/modules/esm/module_job:561:25)

Node.js v24.21.0
✖ skills/x/tests/b.test.mjs (197.7ms)
ℹ tests 1

✖ failing tests:

test at skills/x/tests/b.test.mjs:1:1
✖ skills/x/tests/b.test.mjs (197.7ms)
  'test failed'
`;

const TAP = `TAP version 13
# Subtest: outer
    # Subtest: inner fails
    not ok 1 - inner fails
      ---
      location: 'a.test.mjs:3:27'
      failureType: 'testCodeFailure'
      error: '1 == 2'
      ...
    ok 2 - ok
    1..2
not ok 2 - outer
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
not ok 3 - known # TODO later
not ok 4 - bare
1..4
`;

test('Vitest: the failing tests are named, with the beginning of their errors and the place', () => {
  expect(failureText(VITEST)).toBe(`✗ skills/x/tests/b.test.ts
    Error: Cannot find module './nowhere.ts' imported from /view/skills/x/tests/b.test.ts
     ❯ skills/x/tests/b.test.ts:1:1
✗ skills/x/tests/a.test.ts > outer > inner fails
    AssertionError: expected 1 to be 2
    - Expected
    + Received
    - 2
    + 1
     ❯ skills/x/tests/a.test.ts:3:77`);
});

test('node --test: the same, and the frames shown are the project’s, not those of Node’s runner', () => {
  expect(failureText(NODE_SPEC)).toBe(`✗ skills/x/tests/a.test.mjs > inner fails
    AssertionError [ERR_ASSERTION]: 1 == 2
        at TestContext.<anonymous> (skills/x/tests/a.test.mjs:3:62) {
✗ skills/x/tests/a.test.mjs > throws
    Error: no good
        at TestContext.<anonymous> (skills/x/tests/a.test.mjs:4:58)`);
});

test('a file that throws while it is loaded shows what it threw', () => {
  expect(failureText(NODE_WHOLE_FILE)).toBe(`✗ skills/x/tests/b.test.mjs
    Error: at top
        at skills/x/tests/b.test.mjs:1:7`);
});

test('TAP: each failing test that is neither a suite nor a to-do', () => {
  expect(failingTests(TAP)).toEqual([
    { name: 'a.test.mjs > inner fails', lines: ['1 == 2'] },
    { name: 'bare', lines: [] },
  ]);
});

test('beyond three failing tests, the rest is a number', () => {
  const many = [1, 2, 3, 4, 5].map((n) => `not ok ${n} - test ${n}`).join('\n');
  expect(failureText(many).split('\n')).toEqual(['✗ test 1', '✗ test 2', '✗ test 3', 'and 2 more']);
});

test('a compiler: the lines that name an error; any other program: the last lines', () => {
  const errors = Array.from({ length: 8 }, (_, at) => `src/a.ts(${at + 1},5): error TS2322: no`);
  expect(failureText(['> tsc', ...errors, 'Found 8 errors.'].join('\n')).split('\n')).toEqual([
    ...errors.slice(0, 6),
    'and 2 more',
  ]);
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
  expect(failureText(lines.join('\n')).split('\n')).toEqual(lines.slice(-12));
});

test('colours and titles are taken out', () => {
  expect(plainText('\u001b[31m✗\u001b[39m \u001b]0;title\u0007no\r\n')).toBe('✗ no\n');
});

test('the files that fail are known before a run of Vitest has ended', () => {
  const cut = [
    ' ❯ src/lost.test.ts (0 test)',
    ' ✓ src/right.test.ts (2 tests) 3ms',
    ' ❯ src/wrong.test.ts (2 tests | 1 failed) 7ms',
    '   × wrong here 4ms',
  ].join('\n');
  const files = ['src/lost.test.ts', 'src/right.test.ts', 'src/wrong.test.ts', 'src/other.test.ts'];
  expect(failingFiles(cut, files)).toEqual(['src/lost.test.ts', 'src/wrong.test.ts']);
  expect(failingFiles(VITEST, ['skills/x/tests/a.test.ts', 'src/other.test.ts'])).toEqual([
    'skills/x/tests/a.test.ts',
  ]);
});

const OLD = "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.";

test('an error of another kind, in another file or once more is an added one', () => {
  const moved = OLD.replace('(3,5)', '(9,5)');
  const kind = "src/a.ts(4,1): error TS2304: Cannot find name 'b'.";
  const file = OLD.replace('a.ts', 'b.ts');
  expect(addedErrors(moved, OLD)).toEqual([]);
  expect(addedErrors(`${moved}\n${kind}`, OLD)).toEqual([kind]);
  expect(addedErrors(`${file}\n${moved}`, OLD)).toEqual([file]);
  expect(addedErrors(`${OLD}\n${moved}`, OLD)).toEqual([moved]);
});

test('an error that is told in other words is not added', () => {
  expect(addedErrors(OLD.replace('string', 'boolean'), OLD)).toEqual([]);
});

test('without a code the message counts, and a warning is no error', () => {
  const go = './main.go:5:2: undefined: x';
  expect(addedErrors(`${go}\n./main.go:7:2: undefined: y`, go)).toEqual([
    './main.go:7:2: undefined: y',
  ]);
  expect(addedErrors(`${go}\na.py:3: DeprecationWarning: old`, go)).toEqual([]);
});

test('if the earlier output names no errors, added errors are unknown', () => {
  expect(addedErrors(OLD, 'Killed')).toEqual([]);
  expect(addedErrors('12:03:44: started', '12:03:43: started')).toEqual([]);
});
