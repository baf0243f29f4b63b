import { expect, test } from 'vitest';
import { AT_HOME } from '../../lib/machines.ts';
import { type Machine, placeChat } from './machines.ts';

const engine = { name: 'far', description: '' } as unknown as Machine['engine'];
const machine = (name: string, over: Partial<Machine> = {}): Machine => ({
  ...{ name, state: 'here', description: 'docker', abilities: [], capacity: 2, running: 0, engine },
  ...over,
});

const place = (
  wish: { machine?: string; needs?: string[] },
  machines: readonly Machine[],
  present: string | null = null,
) => {
  const placing = placeChat({ ...AT_HOME, ...wish }, machines, present);
  return placing.kind === 'machine' ? placing.machine.name : (placing.reason ?? 'home');
};

test('a chat runs at home unless the owner says otherwise, whatever machines there are', () => {
  expect(place({}, [machine('nas')])).toBe('home');
});

test('by the owner’s word: on the machine named, and at home with the reason where that cannot be', () => {
  expect(place({ machine: 'nas' }, [machine('nas'), machine('tower')])).toBe('nas');
  expect(place({ machine: 'nas' }, [machine('nas', { state: 'away' })])).toBe('nas is away');
  expect(place({ machine: 'nas' }, [machine('nas', { state: 'draining' })])).toBe(
    'nas takes no new chat',
  );
  expect(place({ machine: 'nas' }, [machine('nas', { running: 2 })])).toBe('nas is full');
  expect(place({ machine: 'nas' }, [machine('tower')])).toBe('nas is not known');
});

test('by what it needs: on the least busy machine that has all of it', () => {
  const gpu = { abilities: ['gpu', 'ffmpeg'] };
  const machines = [
    machine('nas'),
    machine('tower', { ...gpu, capacity: 4, running: 2 }),
    machine('desk', { ...gpu, capacity: 4, running: 1 }),
    machine('attic', { ...gpu, state: 'away' }),
  ];
  expect(place({ needs: ['gpu', 'ffmpeg'] }, machines)).toBe('desk');
  expect(place({ needs: ['printer'] }, machines)).toBe('no machine has printer');
  expect(place({ machine: 'nas', needs: ['gpu'] }, machines)).toBe('no machine has gpu');
});

test('a chat stays where it runs, also on a machine that is full by now', () => {
  const machines = [machine('tower', { running: 2 }), machine('desk', { running: 1 })];
  const wish = { needs: [] as string[], machine: 'tower' };
  expect(place(wish, machines, 'tower')).toBe('tower');
  expect(
    place(
      { needs: ['x'] },
      machines.map((one) => ({ ...one, abilities: ['x'] })),
      'tower',
    ),
  ).toBe('tower');
});
