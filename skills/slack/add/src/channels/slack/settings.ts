import { z } from 'zod';
import { Address, NameList } from '../../lib/setting-values.ts';

/** Settings of the owner for Slack. */
export const SlackEnvironment = z.object({
  SLACK_ALLOW_FROM: NameList,
  SLACK_API_URL: Address.default('https://slack.com/api/').transform((url) =>
    url.replace(/\/*$/, '/'),
  ),
  SLACK_APP_TOKEN: z.string().optional(),
  SLACK_BOT_TOKEN: z.string().optional(),
});

/** The owner's app. */
export type SlackSettings = {
  /** Null when only the other token is set. */
  readonly botToken: string | null;
  readonly appToken: string | null;
  /** User ids, or `*`. */
  readonly allowFrom: readonly string[];
  /** Address of the Web API, with a slash at the end. */
  readonly apiUrl: string;
};

/** Returns the owner's app; null when it has no token at all. */
export function appOf(settings: z.output<typeof SlackEnvironment>): SlackSettings | null {
  const { SLACK_BOT_TOKEN: botToken = null, SLACK_APP_TOKEN: appToken = null } = settings;
  if (botToken === null && appToken === null) return null;
  const { SLACK_ALLOW_FROM: allowFrom, SLACK_API_URL: apiUrl } = settings;
  return { botToken, appToken, allowFrom, apiUrl };
}
