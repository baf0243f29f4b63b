import type { Message, MessageOrigin, Poll, User } from 'grammy/types';
import {
  buttonsNote,
  checklistNote,
  contactNote,
  happenedNote,
  placeNote,
  pollNote,
  stickerNote,
  unknownNote,
  withheldNote,
} from '../kit/notes.ts';

/** Content beside words and files. A venue has a `location` too, an animation a `document`. */
export function notesOf(message: Message): readonly string[] {
  const notes = [...contentNotes(message), ...buttonsIn(message)];
  if (notes.length > 0 || isReadElsewhere(message)) return notes;
  const kind = Object.keys(message).find((key) => !ABOUT.has(key));
  return kind === undefined ? [] : [unknownNote(kind.replaceAll('_', ' '))];
}

/** Content that is read as words or as a file. */
const READ_ELSEWHERE = [
  'animation',
  'audio',
  'document',
  'photo',
  'text',
  'video',
  'video_note',
  'voice',
] as const satisfies readonly (keyof Message)[];

function isReadElsewhere(message: Message): boolean {
  return READ_ELSEWHERE.some((key) => message[key] !== undefined);
}

/** Fields that say something about a message and are not its content. */
const ABOUT: ReadonlySet<string> = new Set([
  'author_signature',
  'business_connection_id',
  'caption',
  'caption_entities',
  'chat',
  'date',
  'direct_messages_topic',
  'edit_date',
  'effect_id',
  'ephemeral_message_id',
  'external_reply',
  'forward_origin',
  'from',
  'guest_bot_caller_chat',
  'guest_bot_caller_user',
  'guest_query_id',
  'has_media_spoiler',
  'has_protected_content',
  'is_automatic_forward',
  'is_from_offline',
  'is_paid_post',
  'is_topic_message',
  'link_preview_options',
  'media_group_id',
  'message_id',
  'message_thread_id',
  'paid_star_count',
  'quote',
  'receiver_user',
  'reply_markup',
  'reply_to_checklist_task_id',
  'reply_to_message',
  'reply_to_poll_option_id',
  'reply_to_story',
  'sender_boost_count',
  'sender_business_bot',
  'sender_chat',
  'sender_tag',
  'show_caption_above_media',
  'suggested_post_info',
  'via_bot',
]);

type ContentFields = Pick<
  Message,
  | 'checklist'
  | 'contact'
  | 'dice'
  | 'game'
  | 'invoice'
  | 'location'
  | 'paid_media'
  | 'poll'
  | 'sticker'
  | 'story'
  | 'venue'
>;

/** Returns notes for content that replies can hold as well. */
export function contentNotes(message: ContentFields): readonly string[] {
  const { venue, location, contact, poll, checklist, sticker, dice, paid_media: paid } = message;
  if (venue !== undefined) {
    const { title: name, address } = venue;
    return [placeNote({ ...venue.location, name, address })];
  }
  if (location !== undefined) {
    return [placeNote({ ...location, isLive: location.live_period !== undefined })];
  }
  if (contact !== undefined) {
    const { first_name: first, last_name: last, phone_number: number, vcard } = contact;
    return [contactNote(fullName(first, last), [number, ...addressesIn(vcard ?? '')])];
  }
  if (poll !== undefined) return [noteOfPoll(poll)];
  if (checklist !== undefined) {
    const items = checklist.tasks.map(({ text, completion_date: at }) => ({
      text,
      isDone: (at ?? 0) > 0,
    }));
    return [checklistNote(checklist.title, items)];
  }
  if (sticker !== undefined) return [stickerNote(sticker.emoji)];
  if (dice !== undefined) return [`dice ${dice.emoji}: ${dice.value}`];
  if (paid !== undefined) {
    const count = paid.paid_media.length;
    const what = count === 1 ? 'a picture or video' : `${count} pictures or videos`;
    return [withheldNote(what, `sold for ${paid.star_count} stars`)];
  }
  if (message.story !== undefined) {
    return [withheldNote('a story', 'Telegram does not show stories to bots')];
  }
  if (message.game !== undefined) return [`game ${message.game.title}`];
  if (message.invoice !== undefined) {
    const { title, total_amount: amount, currency } = message.invoice;
    return [`invoice ${title}: ${amount / 100} ${currency}`];
  }
  return [];
}

function noteOfPoll({ question, options, is_closed: isClosed, total_voter_count: voters }: Poll) {
  return pollNote({
    question,
    isClosed,
    options: options.map(({ text, voter_count: votes }) =>
      isClosed || voters > 0 ? { text, votes } : { text },
    ),
  });
}

/** A line of a card that is an e-mail address or a postal one. */
const ADDRESS = /^(?:EMAIL|URL)[^:\r\n]*:(.+)$/gim;

function addressesIn(vcard: string): readonly string[] {
  return [...vcard.slice(0, 2_048).matchAll(ADDRESS)].map(([, address = '']) => address.trim());
}

/** Buttons of another bot below its message, which somebody has passed on. */
function buttonsIn({ reply_markup: markup }: Message): readonly string[] {
  const labels = (markup?.inline_keyboard ?? []).flat().map(({ text }) => text);
  return labels.length === 0 ? [] : [buttonsNote(labels)];
}

/** Returns a line for what happened in a chat; null for a message of a person. */
export function happeningIn(message: Message): string | null {
  const { left_chat_member: left, new_chat_members: joined, new_chat_title: title } = message;
  if (left !== undefined) return happenedNote(`${nameOf(left)} left`);
  if (joined !== undefined) return happenedNote(`${joined.map(nameOf).join(', ')} joined`);
  if (title !== undefined) return happenedNote(`its title is now "${title}"`);
  const { forum_topic_created: made, forum_topic_edited: changed } = message;
  if (made !== undefined) return happenedNote(`the topic "${made.name}" was made`);
  if (changed?.name !== undefined) {
    return happenedNote(`the name of a topic is now "${changed.name}"`);
  }
  if (message.checklist_tasks_done !== undefined)
    return happenedNote('tasks of a checklist were ticked or unticked');
  if (message.checklist_tasks_added !== undefined) {
    const added = message.checklist_tasks_added.tasks.map(({ text }) => text).join(' / ');
    return happenedNote(`tasks were added to a checklist: ${added}`);
  }
  const happening = HAPPENINGS.find((key) => message[key] !== undefined);
  return happening === undefined ? null : happenedNote(happening.replaceAll('_', ' '));
}

/** Messages of Telegram's own that tell of a chat; their names are words. */
const HAPPENINGS = [
  'boost_added',
  'chat_background_set',
  'chat_shared',
  'channel_chat_created',
  'delete_chat_photo',
  'forum_topic_closed',
  'forum_topic_edited',
  'forum_topic_reopened',
  'general_forum_topic_hidden',
  'general_forum_topic_unhidden',
  'giveaway_completed',
  'giveaway_created',
  'group_chat_created',
  'message_auto_delete_timer_changed',
  'new_chat_photo',
  'pinned_message',
  'proximity_alert_triggered',
  'supergroup_chat_created',
  'users_shared',
  'video_chat_ended',
  'video_chat_participants_invited',
  'video_chat_scheduled',
  'video_chat_started',
  'write_access_allowed',
] as const satisfies readonly (keyof Message)[];

/** Returns the name of who wrote what was forwarded; null where they keep it to themselves. */
export function authorOf(origin: MessageOrigin): string | null {
  switch (origin.type) {
    case 'user':
      return nameOf(origin.sender_user);
    case 'hidden_user':
      return origin.sender_user_name;
    case 'chat':
      return origin.sender_chat.title ?? null;
    case 'channel':
      return origin.chat.title ?? null;
    default:
      return null;
  }
}

/** Returns a person's name. */
export function nameOf({
  first_name: first,
  last_name: last,
}: Pick<User, 'first_name' | 'last_name'>): string {
  return fullName(first, last) ?? 'somebody';
}

/** Returns first and last name as one; null without either. */
export function fullName(first: string | undefined, last: string | undefined): string | null {
  const name = [first, last].filter((part) => part !== undefined && part !== '').join(' ');
  return name === '' ? null : name;
}
