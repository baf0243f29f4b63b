import { allowListProblem } from '../channels/discord/access.ts';
import { botOf, DiscordEnvironment } from '../channels/discord/settings.ts';
import { defineChannelExamination } from './channel-examination.ts';
import { type Examination, problem } from './examination.ts';

/** The bot: whether Discord takes its token, what it may read, who may write to it, and how the channel does. */
export const examination = discordExamination(20_000);

/** @param timeoutMs how long Discord has for each answer */
export function discordExamination(timeoutMs: number): Examination {
  return defineChannelExamination({
    area: 'discord',
    order: 44,
    settings: DiscordEnvironment,
    setUp: '`npx claw setup discord` sets token and ids, and tries them.',
    absent: 'no bot yet',
    accountOf: botOf,
    problemOf: ({ allowFrom }) => allowListProblem(allowFrom),
    untried: () => 'a token is set; Discord was not asked',
    async tryAccount(bot) {
      // Discord's library takes a moment to load.
      const { identify, inviteLink, NO_MESSAGE_CONTENT } = await import(
        '../channels/discord/identity.ts'
      );
      const who = await identify(bot, timeoutMs);
      if (!who.ok) return who;
      const advice = `To add the bot: ${inviteLink(who.applicationId)}`;
      const findings = who.readsMessages ? [] : [problem('discord', NO_MESSAGE_CONTENT, advice)];
      return { ok: true, message: `the bot is ${who.name}`, findings };
    },
  });
}
