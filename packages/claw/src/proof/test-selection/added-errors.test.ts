import { expect, test } from 'vitest';
import { addedErrors } from './added-errors.ts';

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

test('where the output before names no errors, nothing can be told', () => {
  expect(addedErrors(OLD, 'Killed')).toEqual([]);
  expect(addedErrors('12:03:44: started', '12:03:43: started')).toEqual([]);
});
