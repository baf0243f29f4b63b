import type { Chat, Group } from '../../store/store.ts';
import type { ClockPort, ProjectPort, SettingsPort, StorePort } from '../contracts/ports.ts';
import { type Among, type ChatList, findChat, listChats, type PeopleOf } from './chat-list.ts';
import { folderNameFor, folderNameProblem } from './folder-name.ts';
import {
  deleteGroupFolder,
  forgetConversations,
  isLeftOnDisk,
  makeGroupFolder,
} from './group-folder.ts';
import { FolderLeft, GroupRefused } from './group-refused.ts';
import { ALWAYS, BY_NAME, type Trigger, triggerProblem } from './trigger.ts';

export type Registration = {
  readonly chat: Chat;
  /** Null takes the folder that the chat had before, or makes a name. */
  readonly folder: string | null;
  /** Null is always for a chat with one person, and by the assistant's name for a group. */
  readonly trigger: Trigger | null;
  /** The owner has said that the folder of an earlier chat goes to this one. */
  readonly mayTakeOver: boolean;
};

/** The registered chats and their rules, for the owner's commands and main's tools. */
export interface Registry {
  list(): ChatList;
  /** @throws SeveralFit when it fits more than one */
  find(typed: string, among: Among): Chat | null;
  /** @throws GroupRefused saying what is wrong with it; FolderLeft when only the owner can allow it */
  register(wanted: Registration): Group;
  /** Takes a chat out. Its folder and what was said stay for the day it comes back. */
  unregister(group: Group): Promise<void>;
  /** Deletes all that is known of a chat, registered or not, its folder included. */
  remove(jid: string): Promise<void>;
  setTrigger(group: Group, trigger: Trigger): void;
}

export type RegistryOptions = StorePort &
  ProjectPort &
  SettingsPort &
  ClockPort & {
    readonly peopleOf: PeopleOf;
    /** Ends the container of a group's folder, if it has one. */
    readonly stopAgent: (folder: string) => Promise<void>;
    /** Tells the chat's channel to forget what it keeps of it. */
    readonly forgetChat: (jid: string) => void;
    /** All that is known of a chat is deleted: copies of files that only it named are of no use. */
    readonly onRemoved: () => void;
  };

export function openRegistry(options: RegistryOptions): Registry {
  const { store, now, peopleOf, stopAgent, forgetChat } = options;
  const places = { projectDir: options.projectDir, dataDir: options.settings.dataDir };

  async function unregister({ jid, folder, isMain }: Group): Promise<void> {
    if (isMain) throw new GroupRefused('Your own chat cannot be taken out.');
    store.transaction(() => {
      store.groups.unregister(jid);
      store.chats.dismiss(jid);
    });
    await stopAgent(folder);
  }

  return {
    list: () => listChats(store),
    find: (typed, among) => findChat({ store, peopleOf }, typed, among),
    register({ chat, folder: wanted, trigger: asked, mayTakeOver }) {
      const known = store.groups.byJid(chat.jid);
      if (known !== null) {
        throw new GroupRefused(`${known.name} is registered already, as groups/${known.folder}.`);
      }
      const folder = wanted ?? freeFolder(options, chat);
      const isNew = store.folders.holder(folder) !== chat.jid;
      checkFolder(options, { folder, jid: chat.jid, mayTakeOver });
      const trigger = asked ?? (chat.isDirect ? ALWAYS : BY_NAME);
      checkTrigger(trigger);
      const name = chat.name ?? chat.jid;
      const group: Group = { jid: chat.jid, folder, name, ...trigger, isMain: false };
      if (isNew) forgetConversations(places, folder);
      store.transaction(() => {
        if (isNew) store.folders.forget(folder);
        store.chats.see(chat, now());
        store.groups.register(group, now());
      });
      makeGroupFolder(places, folder);
      return group;
    },
    unregister,
    async remove(jid) {
      const group = store.groups.byJid(jid);
      const folder = group?.folder ?? store.folders.of(jid);
      if (group !== null) await unregister(group);
      // Files first: after a crash in between, the folder is still found under the chat's name.
      if (folder !== null) await deleteGroupFolder(places, folder);
      forgetChat(jid);
      store.removeGroup(jid);
      options.onRemoved();
    },
    setTrigger({ jid }, trigger) {
      checkTrigger(trigger);
      store.groups.setTrigger(jid, trigger);
    },
  };
}

type FolderOptions = Pick<RegistryOptions, 'store' | 'projectDir' | 'settings'>;

/** Returns the folder that a chat had before, or a new one that no other chat ever had. */
export function freeFolder(
  options: FolderOptions,
  { channel, jid, name }: Pick<Chat, 'channel' | 'jid' | 'name'>,
): string {
  const former = options.store.folders.of(jid);
  if (former !== null && holderOf(options, former, jid) === 'none') return former;
  const isTaken = (folder: string): boolean => holderOf(options, folder, jid) !== 'none';
  return folderNameFor(channel, jid, isTaken, name ?? '');
}

function checkFolder(
  options: FolderOptions,
  { folder, jid, mayTakeOver }: { folder: string; jid: string; mayTakeOver: boolean },
): void {
  const problem = folderNameProblem(folder);
  if (problem !== null)
    throw new GroupRefused(`A folder cannot be called ${folder}: it ${problem}.`);
  const holder = holderOf(options, folder, jid);
  if (holder === 'earlier' && !mayTakeOver) throw new FolderLeft(folder);
  if (holder === 'another') {
    const { name = folder } = options.store.groups.byFolder(folder) ?? {};
    throw new GroupRefused(`groups/${folder} belongs to ${name}. Choose another folder.`);
  }
}

/** Returns the kind of chat that holds a folder already. */
function holderOf(
  { store, projectDir, settings: { dataDir } }: FolderOptions,
  folder: string,
  jid: string,
): 'none' | 'another' | 'earlier' {
  const group = store.groups.byFolder(folder);
  if (group !== null && group.jid !== jid) return 'another';
  if (store.folders.holder(folder) === jid) return 'none';
  return isLeftOnDisk({ projectDir, dataDir }, folder) ? 'earlier' : 'none';
}

function checkTrigger({ triggerWord }: Trigger): void {
  const problem = triggerWord === null ? null : triggerProblem(triggerWord);
  if (problem !== null) throw new GroupRefused(problem);
}
