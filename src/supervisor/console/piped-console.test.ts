import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { pipedConsole } from './piped-console.ts';

test.each(['/exit', '/quit'])(
  '%s ends the session, and what is behind it is not said',
  async (word) => {
    const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const said: string[] = [];
    const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
    const screen = pipedConsole({ input, output, errors });
    screen.open('> ', { onLine: (line) => void said.push(line), onEnd });
    input.write(`/groups\n\n ${word} \n/help\n`);
    await ended;
    expect(said).toEqual(['/groups']);
  },
);

test('a prompt that something came after is shown again, and only where a line is wanted', async () => {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const screen = pipedConsole({ input, output, errors });
  const { promise: said, resolve: onLine } = Promise.withResolvers<string>();
  screen.open('> ', { onLine, onEnd: () => {} });
  screen.print('a reminder');
  screen.notice('a warning');
  input.write('/groups\n');
  await said;
  screen.notice('at work');
  screen.print('answer');
  screen.acknowledged();
  screen.close();
  expect(String(output.read())).toBe('> \na reminder\n> \n> \nanswer\n> \n');
  expect(String(errors.read())).toBe('a warning\nat work\n');
});

test('nothing but prompt and answers is on stdout', async () => {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const screen = pipedConsole({ input, output, errors });
  screen.print('hello');
  screen.open('> ', { onLine: () => {}, onEnd: () => {} });
  screen.notice('a warning');
  screen.setActivity('Andy is typing');
  screen.print('**answer** \u001b[2J');
  screen.acknowledged();
  screen.close();
  output.end();
  expect(String(output.read())).toBe('hello\n> \n> \n**answer** [2J\n> \n');
  expect(String(errors.read())).toBe('a warning\n');
  await once(output.resume(), 'end');
});
