/** The rules that channels keep, in the order of the table, each as a sentence. */
export const RULES = {
  acknowledged: 'a message is acknowledged only after it is stored',
  resent: 'what was not stored comes again after a restart, with what was said meanwhile, in order',
  restored:
    'what was said since a backup comes again after a restore, with what was said meanwhile, in order',
  burst: 'many messages at once arrive in order, each once',
  answered: 'a message is answered in its chat, once, also when the assistant restarts',
  apart: 'where it cannot connect, another channel goes on',
  closed: 'an empty allow-list lets nobody in, and the status names the setting',
  strangers: 'a stranger is dropped and counted, and those who may write get through',
  addressed:
    'a person is found by every address that the owner may type, with their own chat; a group’s address is nobody’s',
  status: 'its status says in words what it does, and a disconnected channel connects again',
  'wrong token': 'a wrong token is refused, with what to do and without the token',
  'revoked token': 'a token that is revoked is refused, with what to do',
  reconnect: 'a far end that goes away and comes back is reconnected, and says so meanwhile',
  'back-off': 'the pauses between attempts to reconnect grow',
  once: 'a message that is sent again under its id is there once',
  'lost answer': 'where the far end’s answer is lost, the message is not there twice unseen',
  'lost draft':
    'a draft whose outcome was lost is finished, replaced or taken away, and never left beside its answer',
  'parts once': 'a message that failed halfway goes on where it stopped',
  'retry-after': 'a pause that the far end asks for is kept, and the message is there once',
  'no retry-after': 'a far end that asks for a pause and names no time gets the message once',
  split: 'a long text is split at the limit, with nothing lost and no character cut',
  'code blocks': 'a code block that spans messages is one in each of them',
  marks: 'a text is never split inside what is bold, a link or code',
  formatting: 'Markdown becomes what the far end shows, and plain characters stay',
  'half a frame': 'half a frame is not a message, and the next one arrives',
  'invalid UTF-8': 'bytes that are no text harm nothing, and the next message arrives',
  '10 MB': 'a message of 10 MB harms nothing, and the next one arrives',
  '2 GB': 'a file of 2 GB is refused in words, without being fetched',
  clock: 'where the clock is an hour off, either way, no message and no answer is lost or doubled',
  edited: 'a message that is edited before it is answered is not answered twice',
  deleted: 'a message that is deleted before it is answered gets its answer all the same',
  forwarded:
    'what was forwarded is never a command, an answer or a call, and is shown as somebody else’s words',
  gone: 'a chat that is gone is said in words, and the channel stays connected',
} as const;

/** The name of a rule, as the table and `lacks` have it. */
export type RuleName = keyof typeof RULES;

/** Every rule's name, in the order of the table. */
export const RULE_NAMES = Object.keys(RULES) as RuleName[];
