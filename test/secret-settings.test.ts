import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSecretSetting, secretValues } from '../src/supervisor/environment.ts';
import { bundledSkills, manifestOf } from '../src/testing/claw/bundled-skills.ts';

/** Words that nothing but the name of their setting makes a secret. */
const PLAIN_WORDS = 'correct horse battery';
/** Addresses that may hold a password, which alone is the secret. */
const WITH_PASSWORD = ['SEARXNG_URL'];

/** The settings of all skills, and whether the package says that they are secret. */
const SETTINGS = bundledSkills().flatMap((skill) =>
  manifestOf(skill).structured.envAdditions.map(({ name, example, isSecret }) => ({
    ...{ skill, name, example: example ?? PLAIN_WORDS, isSecret },
  })),
);

// The log, the doctor, exports, backups and other programs know a secret by its name alone.
test('every setting of a skill is kept from the log where its package calls it secret, and only there', () => {
  expect(SETTINGS.length).toBeGreaterThan(100);
  const wrong = SETTINGS.filter(
    ({ name, example, isSecret }) =>
      !WITH_PASSWORD.includes(name) && isSecretSetting(name, example) !== isSecret,
  );
  expect(wrong).toEqual([]);
  for (const name of WITH_PASSWORD) {
    expect(secretValues({ [name]: 'https://ada:hunter22@example.org' })).toEqual(['hunter22']);
  }
});

test('among the core’s settings, only the keys are secret', () => {
  const text = readFileSync(join(import.meta.dirname, '../.env.example'), 'utf8');
  const known = [...text.matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)];
  // What is left out has a number as a rule, or words.
  const secret = known.flatMap(([, name = '', value = '']) => {
    const usual = value === '' && name.endsWith('TOKENS') ? '1000' : value || PLAIN_WORDS;
    return isSecretSetting(name, usual) ? [name] : [];
  });
  const ofCore = secret.filter((name) => !SETTINGS.some((setting) => setting.name === name));
  expect(ofCore).toEqual(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY']);
});
