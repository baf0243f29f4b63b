import { z } from 'zod';
import type { ChannelEvents } from '../channel.ts';
import { isAllowed } from '../kit/allow-list.ts';
import { type MatrixApi, pathOf } from './api.ts';
import type { Encryption } from './encryption/encryption.ts';
import { isRefusal } from './failure.ts';
import { type JoinedRoom, RoomEvent, type StateEvent, Sync } from './inbound/event.ts';
import type { Inbox } from './inbound/inbox.ts';
import type { Rooms } from './inbound/rooms.ts';
import { jidOf } from './jid.ts';
import type { SyncPosition } from './records/sync-position.ts';
import type { MatrixSettings } from './settings.ts';

/** One answer of the server comes when there is something, or after this time. */
const LONG_POLL_MS = 30_000;
const SPARE_MS = 30_000;
/** The first answer has all rooms. */
const FIRST_MS = 180_000;
/** Messages that are asked for of one room after a long absence. */
const MOST_MISSED = 2_000;
const PAGE = 100;

const FILTER = JSON.stringify({
  presence: { types: [] },
  account_data: { types: ['m.direct'] },
  room: {
    ephemeral: { types: [] },
    account_data: { types: [] },
    state: { lazy_load_members: true, include_redundant_members: true },
    timeline: { limit: PAGE, lazy_load_members: true },
  },
});

export type SessionOptions = {
  readonly api: MatrixApi;
  readonly settings: MatrixSettings;
  readonly userId: string;
  /** Names account and server: the position is of no use for another. */
  readonly account: string;
  readonly position: SyncPosition;
  readonly rooms: Rooms;
  readonly inbox: Inbox;
  readonly encryption: Encryption;
  readonly events: ChannelEvents;
  readonly signal: AbortSignal;
};

/**
 * Takes in what the server tells, from where the last session ended. Resolves when the rooms are known; `closed`
 * rejects with the reason of the end. The server hears that an answer is taken in only when all of it is stored: by the
 * next question, which names it.
 */
export async function openSession(
  options: SessionOptions,
): Promise<{ readonly closed: Promise<void> }> {
  const { position, account } = options;
  const known = position.load(account);
  const since = known ?? (await begin(options));
  return { closed: follow(options, since) };
}

/** Skips messages from before the assistant's first start; invitations are kept. */
async function begin(options: SessionOptions): Promise<string> {
  const { position, account, rooms } = options;
  const first = await ask(options, null);
  rooms.noteDirect(first.account_data);
  for (const [roomId, room] of Object.entries(first.rooms.join)) rooms.noteJoined(roomId, room);
  await takeKeys(options, first);
  await takeInvites(options, first);
  position.advance(account, first.next_batch);
  return first.next_batch;
}

async function follow(options: SessionOptions, from: string): Promise<void> {
  const { position, account, signal } = options;
  let since = from;
  while (!signal.aborted) {
    let answer: Sync;
    try {
      answer = await ask(options, since);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    await takeIn(options, answer, since);
    // What was left out at the end comes again.
    if (signal.aborted) return;
    if (answer.next_batch !== since) position.advance(account, answer.next_batch);
    since = answer.next_batch;
  }
}

async function ask({ api, signal }: SessionOptions, since: string | null): Promise<Sync> {
  const query = new URLSearchParams({ filter: FILTER });
  if (since !== null) query.set('since', since);
  query.set('timeout', String(since === null ? 0 : LONG_POLL_MS));
  const timeoutMs = since === null ? FIRST_MS : LONG_POLL_MS + SPARE_MS;
  return Sync.parse(await api.call('GET', `/sync?${query}`, { signal, timeoutMs }));
}

async function takeIn(options: SessionOptions, answer: Sync, since: string): Promise<void> {
  const { rooms, inbox, signal } = options;
  rooms.noteDirect(answer.account_data);
  for (const [roomId, room] of Object.entries(answer.rooms.join)) rooms.noteJoined(roomId, room);
  await takeKeys(options, answer);
  await takeInvites(options, answer);
  for (const [roomId, room] of Object.entries(answer.rooms.join)) {
    const missed = room.timeline.limited ? await missedIn(options, roomId, room, since) : [];
    for (const event of sinceInvited([...missed, ...room.timeline.events], options.userId)) {
      if (signal.aborted) return;
      await followUpgrade(options, roomId, event);
      await inbox.take(roomId, event);
    }
  }
  await inbox.takeHeld();
}

/** Before the messages, which may need the keys that come with them. */
async function takeKeys({ encryption, rooms }: SessionOptions, answer: Sync): Promise<void> {
  const machine = rooms.hasEncrypted() ? await encryption.open() : await encryption.machine();
  await machine?.receive({
    toDevice: answer.to_device.events,
    changed: answer.device_lists.changed,
    left: answer.device_lists.left,
    counts: answer.device_one_time_keys_count,
    fallbacks: answer.device_unused_fallback_key_types,
  });
}

async function takeInvites(options: SessionOptions, answer: Sync): Promise<void> {
  for (const [roomId, { invite_state: state }] of Object.entries(answer.rooms.invite)) {
    await takeInvite(options, roomId, state);
  }
}

/** Joins where somebody invites who may write; another invitation is declined. */
async function takeInvite(
  options: SessionOptions,
  roomId: string,
  state: readonly StateEvent[],
): Promise<void> {
  const { api, settings, userId, events, rooms, encryption } = options;
  const { allowFrom, policy, rooms: listed } = settings;
  const invitation = state.find(
    ({ type, state_key: key }) => type === 'm.room.member' && key === userId,
  );
  if (invitation === undefined) return;
  const { sender, content } = invitation;
  const isDirect = content['is_direct'] === true;
  const isListed = policy !== 'allowlist' || isDirect || listed.includes(roomId);
  if (!isAllowed(allowFrom, sender)) await events.onStranger?.(sender);
  try {
    if (!isAllowed(allowFrom, sender) || !isListed) {
      await api.call('POST', pathOf`/rooms/${roomId}/leave`, { body: {} });
      return;
    }
    for (const event of state) rooms.noteState(roomId, event);
    rooms.note(roomId, { isDirect });
    // The keys are known before the account is seen there, so that the first message is readable.
    if (rooms.of(roomId).isEncrypted) await encryption.open();
    await api.call('POST', pathOf`/join/${roomId}`, { body: {} });
    await followInvited(options, roomId);
  } catch (error) {
    // The invitation was taken back, or the room is gone.
    if (!isRefusal(error)) throw error;
  }
}

const Tombstone = z.looseObject({ replacement_room: z.string() });

const Created = z.looseObject({ predecessor: z.looseObject({ room_id: z.string() }) });

/**
 * Follows a room that was upgraded to its replacement, where the replacement says so too: otherwise an admin of a room
 * could take over another chat. The owner is told in either case.
 */
async function followUpgrade(
  options: SessionOptions,
  roomId: string,
  found: unknown,
): Promise<void> {
  const { api, rooms, settings, userId, events } = options;
  const { data: event } = RoomEvent.safeParse(found);
  if (event?.type !== 'm.room.tombstone' || event.state_key !== '') return;
  const to = event.content['replacement_room'];
  if (typeof to !== 'string' || event.sender === userId) return;
  const room = rooms.of(roomId);
  const title = `The Matrix room ${room.name ?? roomId} was upgraded`;
  const isListed =
    settings.policy !== 'allowlist' || rooms.isDirect(room) || settings.rooms.includes(to);
  if (!isListed) {
    return events.onNotice?.(`${title}. Add ${to} to MATRIX_ROOMS and restart to go on there.`);
  }
  if (!isAllowed(settings.allowFrom, event.sender)) {
    const { sender } = event;
    return events.onNotice?.(
      `${title} by ${sender}, who may not write to the assistant. To go on in ${to}, invite it there.`,
    );
  }
  try {
    const server = event.sender.slice(event.sender.indexOf(':') + 1);
    const query = new URLSearchParams({ server_name: server });
    await api.call('POST', `${pathOf`/join/${to}`}?${query}`, { body: {} });
    if ((await roomBefore(api, to)) !== roomId) {
      await api.call('POST', pathOf`/rooms/${to}/leave`, { body: {} });
      return events.onNotice?.(
        `${title} to ${to}, which does not name it as the room before. The assistant did not follow.`,
      );
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return events.onNotice?.(`${title}, and the assistant cannot join ${to}. Invite it there.`);
  }
  await goOn(options, roomId, to);
}

/** Follows an upgrade to a room that the account had to be invited to. */
async function followInvited(options: SessionOptions, to: string): Promise<void> {
  const { api } = options;
  const before = await roomBefore(api, to);
  if (before === null) return;
  const found = await api
    .call('GET', pathOf`/rooms/${before}/state/m.room.tombstone/`)
    .catch((error: unknown) => {
      if (isRefusal(error)) return null; // The account was never there, or the room is not upgraded.
      throw error;
    });
  if (Tombstone.safeParse(found).data?.replacement_room === to) await goOn(options, before, to);
}

async function roomBefore(api: MatrixApi, roomId: string): Promise<string | null> {
  try {
    const created = await api.call('GET', pathOf`/rooms/${roomId}/state/m.room.create/`);
    return Created.safeParse(created).data?.predecessor.room_id ?? null;
  } catch (error) {
    if (isRefusal(error)) return null; // It names none.
    throw error;
  }
}

/** What is known of a room goes on in its replacement: name, registration, owner's chat. */
async function goOn({ rooms, events }: SessionOptions, from: string, to: string): Promise<void> {
  const { isDirect, isEncrypted, isOwners, name } = rooms.of(from);
  rooms.note(to, { isDirect, isOwners, name, ...(isEncrypted ? { isEncrypted } : {}) });
  await events.onSameChat?.(jidOf(from), jidOf(to));
  events.onNotice?.(
    `The Matrix room ${name ?? from} was upgraded. The chat goes on in the new room.`,
  );
}

const Page = z.looseObject({ chunk: z.array(z.unknown()).default([]), end: z.string().optional() });

/** Returns what lies between the last answer and this one, where that was too much for one answer. */
async function missedIn(
  { api, signal }: SessionOptions,
  roomId: string,
  { timeline }: JoinedRoom,
  since: string,
): Promise<readonly unknown[]> {
  const missed: unknown[] = [];
  let from = timeline.prev_batch;
  try {
    while (from !== undefined && missed.length < MOST_MISSED) {
      const query = new URLSearchParams({ dir: 'b', from, to: since, limit: String(PAGE) });
      const path = `${pathOf`/rooms/${roomId}/messages`}?${query}`;
      const { chunk, end } = Page.parse(await api.call('GET', path, { signal }));
      missed.push(...chunk);
      from = chunk.length === 0 || end === from ? undefined : end;
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return missed.reverse();
}

/**
 * Drops what is no news to somebody who has just come in: messages from before an invitation that came in between, and,
 * where nobody had to invite, who joined earlier. What was said in an upgraded room before the assistant followed stays.
 */
function sinceInvited(found: readonly unknown[], userId: string): readonly unknown[] {
  const members = found.map((each) => {
    const { data: event } = RoomEvent.safeParse(each);
    return event?.type === 'm.room.member' ? event : null;
  });
  const lastOwn = (membership: string) =>
    members.findLastIndex(
      (event) => event?.state_key === userId && event.content['membership'] === membership,
    );
  const invited = lastOwn('invite');
  const joined = lastOwn('join');
  return found.slice(invited + 1).filter((_, at) => {
    const place = at + invited + 1;
    return place > joined || members[place] === null;
  });
}
