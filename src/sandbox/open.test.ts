import { expect, test } from 'vitest';
import { readSettings } from '../config.ts';
import { discoverEngines, isWeaker } from './engines/engine.ts';
import { findersOf, installAdvice } from './open.ts';

test('an engine that is asked for is what the advice is about', async () => {
  const engines = await discoverEngines();
  const podman = installAdvice(engines, 'podman', ['podman: no daemon answers.']);
  expect(podman).toContain('systemctl --user start podman.socket');
  expect(podman).not.toContain('docker');
  expect(installAdvice(engines, 'bubblewrap', [])).not.toContain('Docker');
  expect(installAdvice(engines, null, ['docker: no daemon answers.'])).toMatch(
    /docker\.io.*bubblewrap/,
  );
});

test('engines are tried in their order, however they were found, as in a worker without a tree', async () => {
  const engines = (await discoverEngines()).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
  const settings = readSettings({}, '/nonexistent');
  const finders = findersOf(engines, { projectDir: '/', homeDir: '/', settings });
  expect(finders.map(({ name }) => name)).toEqual(['docker', 'podman', 'bubblewrap']);
});

test('only bubblewrap after a daemon is weaker than before', async () => {
  const engines = await discoverEngines();
  expect(isWeaker(engines, 'bubblewrap', 'docker')).toBe(true);
  expect(isWeaker(engines, 'bubblewrap', 'podman')).toBe(true);
  expect(isWeaker(engines, 'bubblewrap', 'bubblewrap')).toBe(false);
  expect(isWeaker(engines, 'bubblewrap', null)).toBe(false);
  expect(isWeaker(engines, 'podman', 'docker')).toBe(false);
  // Of an engine whose skill was taken out nothing is known: the owner is asked.
  expect(isWeaker(engines, 'bubblewrap', 'gone')).toBe(true);
});
