import { expect, test } from 'vitest';
import { toolContext } from '../../testing/turn/tool-call.ts';
import { openGuards } from '../turns/tool-calls/guarded-calls.ts';
import { offerOf } from '../turns/tool-calls/tool-calls.ts';
import { openTools } from '../turns/tool-calls/toolbox.ts';
import { discoverGuards } from './guard.ts';
import { discoverTools } from './tool.ts';

const MAIN_ONLY = [
  'list_groups',
  'write_global_memory',
  'owner_command',
  'register_group',
  'set_trigger',
  'unregister_group',
];

const context = toolContext();
const { guards } = openGuards(await discoverGuards(), {}, { ...context, groupsDir: '/nowhere' });
const { tools } = openTools(await discoverTools(), {}, context);
const offer = (turn: { isMain: boolean; isTask: boolean }) => offerOf(tools.list(), guards, turn);
const names = (isMain: boolean, isTask: boolean) =>
  offer({ isMain, isTask }).map(({ name }) => name);

test('an agent is offered only what it may call, whatever its chat', () => {
  const everything = names(true, true);
  expect(everything).toEqual(expect.arrayContaining([...MAIN_ONLY, 'stay_silent', 'send_message']));
  const without = (...left: readonly string[]) => everything.filter((name) => !left.includes(name));
  expect(names(false, true)).toEqual(without(...MAIN_ONLY));
  expect(names(true, false)).toEqual(without('stay_silent'));
  expect(names(false, false)).toEqual(without(...MAIN_ONLY, 'stay_silent'));
});

test('a tool is described by its schema, for the model to fill in', () => {
  const [send] = offer({ isMain: false, isTask: false }).filter(
    ({ name }) => name === 'send_message',
  );
  expect(send?.inputSchema).toMatchObject({ type: 'object', required: ['text'] });
});
