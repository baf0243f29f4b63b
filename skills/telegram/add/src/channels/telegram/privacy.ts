import type { ChatMemberUpdated, UserFromGetMe } from 'grammy/types';
import type { Api } from 'grammy/web';
import type { ChannelLog } from '../channel.ts';
import { causeOf } from './failure.ts';
import { forGrammy } from './signal.ts';

/**
 * Says in a group that the bot has just come into what it will not see there: a bot in privacy mode is shown only what
 * is meant for it, unless it is an administrator. Never rejects.
 */
export async function explainPrivacy(
  {
    api,
    log,
    signal,
  }: { readonly api: Api; readonly log: ChannelLog; readonly signal: AbortSignal },
  { chat, old_chat_member: before, new_chat_member: now }: ChatMemberUpdated,
  me: UserFromGetMe,
): Promise<void> {
  const isNew = before.status === 'left' || before.status === 'kicked';
  const isGroup = chat.type === 'group' || chat.type === 'supergroup';
  if (!isGroup || !isNew || now.status !== 'member' || me.can_read_all_group_messages) return;
  const text =
    `Telegram shows me only those messages here that mention @${me.username}, answer me, or begin with a slash. ` +
    'To let me read along, write /setprivacy to @BotFather, choose me, then Disable; afterwards remove me from ' +
    'this group and add me again. Or make me an administrator.';
  try {
    await api.sendMessage(chat.id, text, {}, forGrammy(signal));
  } catch (error) {
    log.info('the privacy mode was not explained in a group', { cause: causeOf(error) });
  }
}
