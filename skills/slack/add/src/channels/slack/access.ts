import { oddEntry } from '../kit/allow-list.ts';

/** The settings that decide whether the channel can start at all. */
export type AccessSettings = {
  readonly botToken: string | null;
  readonly appToken: string | null;
  readonly allowFrom: readonly string[];
};

/** Returns the reason why the channel cannot start, with the line to add to `.env`; null for none. */
export function settingsProblem(settings: AccessSettings): string | null {
  const { botToken, appToken, allowFrom } = settings;
  if (botToken === null) return missing('SLACK_BOT_TOKEN=<xoxb-…, from OAuth & Permissions>');
  if (appToken === null) return missing('SLACK_APP_TOKEN=<xapp-…, from Basic Information>');
  if (allowFrom.length === 0) {
    return (
      'Nobody is allowed to write to the app yet. Add SLACK_ALLOW_FROM=<your member id> to .env ' +
      'and restart; your profile on Slack has "Copy member ID" in its menu.'
    );
  }
  const odd = oddEntry(allowFrom, (entry) => /^[UW][A-Z0-9]+$/.test(entry));
  return odd === undefined
    ? null
    : `SLACK_ALLOW_FROM in .env holds "${odd}", which is not a member id. Write ids such as ` +
        'U012AB3CD with commas between them, or * for everybody, and restart.';
}

function missing(line: string): string {
  return `Slack needs both of its tokens. Add ${line} to .env and restart.`;
}
