import { expect, test } from 'vitest';
import {
  discoverExaminations,
  examineAssistant,
  type Finding,
} from '../../../src/doctor/examination.ts';
import { startSilentServer } from '../../../src/testing/channel/far-server.ts';
import { examinedSettings } from '../../../src/testing/owner/examined-settings.ts';
import { APP_TOKEN, BOT_TOKEN, settingsOf, slackExamination, startWorkspace } from './fixtures.ts';

/** Returns the findings of `claw doctor` about Slack, as it prints them. */
async function found(
  env: Readonly<Record<string, string>>,
  isOffline = false,
): Promise<readonly Finding[]> {
  const own = discoverExaminations().then((all) => all.filter(({ area }) => area === 'slack'));
  const findings = await examineAssistant(examinedSettings(env, { isOffline }), own);
  expect(JSON.stringify(findings)).not.toContain(BOT_TOKEN);
  expect(JSON.stringify(findings)).not.toContain(APP_TOKEN);
  return findings;
}

test('the app is named after Slack has taken both tokens; nothing is connected', async () => {
  await using slack = await startWorkspace();
  expect(await found(settingsOf(slack))).toMatchObject([
    { ok: true, message: 'the app is andy in Acme' },
  ]);
  expect(slack.calls.map(({ method }) => method).sort()).toEqual([
    'apps.connections.open',
    'auth.test',
  ]);
  expect(slack.connections).toBe(0);
});

test('each token that Slack refuses is told, with where to get it, and never shown', async () => {
  await using slack = await startWorkspace();
  const wrong = { SLACK_BOT_TOKEN: 'xoxb-wrong-one', SLACK_APP_TOKEN: 'xapp-wrong-one' };
  const findings = await found({ ...settingsOf(slack), ...wrong });
  expect(findings).toMatchObject([
    { ok: false, message: expect.stringMatching(/refuses the bot token.*\(invalid_auth\)/) },
    { ok: false, message: expect.stringMatching(/refuses the app token.*\(invalid_auth\)/) },
  ]);
  expect(JSON.stringify(findings)).not.toContain('wrong-one');
});

test('where nothing listens, and where something listens and says nothing, is told', async () => {
  await using silent = await startSilentServer();
  const subject = examinedSettings(settingsOf({ url: `http://${silent.host}/api/` }));
  const quiet = await slackExamination(1_000).examine(subject);
  expect(quiet).toMatchObject([
    { ok: false, message: expect.stringContaining('cannot be reached') },
    { ok: false, message: expect.stringContaining('cannot be reached') },
  ]);
  // A port that was given back may be another test's by now; nobody is given this one.
  const nowhere = examinedSettings(settingsOf({ url: 'http://127.0.0.1:2/api/' }));
  const [gone] = await slackExamination(60_000).examine(nowhere);
  expect(gone?.message).toMatch(/cannot be reached \(ECONNREFUSED: nothing listens there;/);
});

test('a missing token and an empty allow-list are told; offline nothing is asked', async () => {
  await using slack = await startWorkspace();
  const env = { ...settingsOf(slack), SLACK_ALLOW_FROM: '' };
  expect(await found(env, true)).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
    { ok: false, message: expect.stringContaining('SLACK_ALLOW_FROM') },
  ]);
  expect(await found({ ...env, SLACK_APP_TOKEN: '' })).toMatchObject([
    { ok: false, message: expect.stringContaining('SLACK_APP_TOKEN') },
  ]);
  expect(await found({})).toMatchObject([
    { ok: true, advice: expect.stringContaining('`npx claw setup slack`') },
  ]);
  expect(slack.calls).toEqual([]);
});
