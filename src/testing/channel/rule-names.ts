/** The rules that channels keep, in the order of the table, each as a sentence. */
export const RULES = {
  acknowledged: 'a message is acknowledged only after it is stored',
  resent:
    'messages that were not stored come again after a restart, with those sent meanwhile, in order',
  restored:
    'messages since a backup come again after a restore, with those sent meanwhile, in order',
  burst: 'many messages at once arrive in order, each once',
  answered: 'a message is answered in its chat, once, even if the assistant restarts',
  apart: 'if it cannot connect, other channels still work',
  closed: 'an empty allow-list lets nobody in, and the status names the setting',
  strangers: 'messages of strangers are dropped and counted; those of allowed people arrive',
  addressed:
    'every address that the owner may type finds the person and their own chat; a group’s address finds nobody, nor does a phone number without its country, or where people have no phone numbers',
  status:
    'the status says in words what the channel does, and a disconnected channel connects again',
  'wrong token': 'a wrong token is refused, with advice and without showing the token',
  'revoked token': 'a revoked token is refused, with advice',
  reconnect:
    'if the far end goes away, the status says so, and the channel reconnects when it is back',
  'back-off': 'the pauses between attempts to reconnect grow',
  once: 'a message that is sent again under its id appears once',
  'lost answer': 'if the far end’s answer is lost, no message appears twice unnoticed',
  'lost draft':
    'a draft with an unknown outcome is completed, replaced or removed, and never stays beside its answer',
  'parts once': 'a message that failed halfway continues where it stopped',
  'retry-after': 'a pause that the far end asks for is kept, and the message appears once',
  'no retry-after': 'if the far end asks for a pause without a time, the message appears once',
  split: 'a long text is split at the limit; nothing is lost and no character is cut',
  'code blocks': 'a code block that spans messages is a code block in each of them',
  marks: 'a text is never split inside bold text, a link or code',
  formatting: 'Markdown becomes what the far end can show, and plain characters stay',
  'half a frame': 'half a frame is not taken for a message, and the next message arrives',
  'invalid UTF-8': 'bytes that are not valid text do no harm, and the next message arrives',
  '10 MB': 'a message of 10 MB does no harm, and the next one arrives',
  '2 GB': 'a file of 2 GB is refused with a message, without a download',
  clock:
    'if the clock is wrong by an hour, either way, no message and no answer is lost or doubled',
  edited: 'a message that is edited before its answer is not answered twice',
  deleted: 'a message that is deleted before its answer is answered anyway',
  forwarded:
    'a forwarded message is never a command, an answer or a call, and is shown as another person’s words',
  gone: 'if a chat is gone, a message says so, and the channel stays connected',
} as const;

/** The name of a rule, as the table and `lacks` have it. */
export type RuleName = keyof typeof RULES;

/** Every rule's name, in the order of the table. */
export const RULE_NAMES = Object.keys(RULES) as RuleName[];
