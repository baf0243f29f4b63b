import { expect, test } from 'vitest';
import { installAdvice, isWeaker } from './open.ts';

test('an engine that is asked for is what the advice is about', () => {
  const podman = installAdvice('podman', ['podman: no daemon answers.']);
  expect(podman).toContain('systemctl --user start podman.socket');
  expect(podman).not.toContain('docker');
  expect(installAdvice('bubblewrap', [])).not.toContain('Docker');
  expect(installAdvice(null, ['docker: no daemon answers.'])).toMatch(/docker\.io.*bubblewrap/);
});

test('only bubblewrap after a daemon is weaker than before', () => {
  expect(isWeaker('bubblewrap', 'docker')).toBe(true);
  expect(isWeaker('bubblewrap', 'podman')).toBe(true);
  expect(isWeaker('bubblewrap', 'bubblewrap')).toBe(false);
  expect(isWeaker('bubblewrap', null)).toBe(false);
  expect(isWeaker('podman', 'docker')).toBe(false);
});
