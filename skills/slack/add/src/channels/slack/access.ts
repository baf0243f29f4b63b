import { allowListRule } from '../kit/allow-list.ts';

/** The settings that decide whether the channel can start at all. */
export type AccessSettings = {
  readonly botToken: string | null;
  readonly appToken: string | null;
  readonly allowFrom: readonly string[];
};

/** Returns the reason why the channel cannot start, with the line to add to `.env`; null for none. */
export function settingsProblem({ botToken, appToken, allowFrom }: AccessSettings): string | null {
  if (botToken === null) return missing('SLACK_BOT_TOKEN=<xoxb-…, from OAuth & Permissions>');
  if (appToken === null) return missing('SLACK_APP_TOKEN=<xapp-…, from Basic Information>');
  return allowListProblem(allowFrom);
}

/** Returns the reason why the list of people cannot be used; null for none. */
export const allowListProblem = allowListRule({
  name: 'SLACK_ALLOW_FROM',
  purpose: 'write to the app',
  example: '<your member id>',
  hint: 'Your profile on Slack has "Copy member ID" in its menu.',
  entries: {
    isValid: (entry) => /^[UW][A-Z0-9]+$/.test(entry),
    otherwise: 'not a member id',
    form: 'ids such as U012AB3CD',
  },
});

function missing(line: string): string {
  return `Slack needs both of its tokens. Add ${line} to .env and restart.`;
}
