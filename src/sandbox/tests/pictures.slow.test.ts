import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import type { AnthropicRequest, AnthropicScript } from '../../testing/model/anthropic.ts';
import { startOpenAiServer } from '../../testing/model/openai.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { jpegOf, pngOf } from '../../testing/pictures.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';
import type { FollowUp } from '../sandbox.ts';

const SMALL = pngOf({ width: 30, height: 20 });
const LARGE = jpegOf({ width: 2_000, height: 500 });
const OK: AnthropicScript = () => [{ type: 'text', text: 'ok' }];

/** Puts files where those of messages are. */
async function shelve({ dataDir }: SandboxProject, files: Readonly<Record<string, Buffer>>) {
  const shelf = join(dataDir, 'media/family');
  await mkdir(shelf, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(shelf, name), content);
}

const shown = (message: string, name: string) => ({
  message,
  path: `/workspace/media/${name}`,
  problem: null,
});

/** The blocks of a request's message of the user's, from the end; of pictures their type and size. */
function blocksOf(request: AnthropicRequest | undefined, at = -1) {
  const said = request?.body.messages.filter(({ role }) => role === 'user').at(at)?.content ?? '';
  if (typeof said === 'string') return [said];
  return said.map((block) => {
    if (block.type !== 'image') return block['text'];
    const { media_type: type, data } = block['source'] as { media_type: string; data: string };
    return [type, Buffer.from(data, 'base64').length];
  });
}

await describeWithEngine('docker', 'pictures in a container', () => {
  test('reach the model with the message, scaled down, and are shown again in the next turns', async () => {
    await using project = await sandboxProject({ engine: 'docker', script: OK });
    await shelve(project, {
      'a.png': SMALL,
      'b.jpg': LARGE,
      'bomb.png': pngOf({ width: 30_000, height: 30_000 }, Buffer.alloc(100)),
      'text.png': Buffer.from('hello'),
    });
    const first = await project.turn('What is on these?', {
      pictures: [
        shown('m1', 'a.png'),
        shown('m2', 'b.jpg'),
        shown('m3', 'bomb.png'),
        shown('m4', 'text.png'),
        { message: 'm5', path: null, problem: 'it could not be fetched' },
      ],
    });
    if (first.kind !== 'answered') throw new Error(first.message);
    const small = ['image/png', SMALL.length];
    const scaled = ['image/jpeg', expect.any(Number)];
    const seen = [
      'What is on these?',
      '[picture of message m1: /workspace/media/a.png]',
      small,
      '[picture of message m2: /workspace/media/b.jpg]',
      scaled,
      expect.stringMatching(
        /^\[The picture of message m3 cannot be shown: it has 30000 x 30000 .*bomb\.png\.\]$/,
      ),
      expect.stringMatching(/^\[The picture of message m4 cannot be shown: it is no JPEG, PNG/),
      '[The picture of message m5 cannot be shown: it could not be fetched.]',
    ];
    expect(blocksOf(project.server.requests[0])).toEqual(seen);

    const { session } = first;
    expect(await project.answer('And the first one?', { session })).toBe('ok');
    expect(blocksOf(project.server.requests[1], -2)).toEqual(seen);
    expect(blocksOf(project.server.requests[1])).toEqual(['And the first one?']);
    const sessions = join(project.dataDir, 'sessions/family/.claude/sessions');
    const [file = ''] = await readdir(sessions);
    expect((await readFile(join(sessions, file), 'utf8')).length).toBeLessThan(3_000);

    const four = ['n1', 'n2', 'n3', 'n4'].map((id) => shown(id, 'a.png'));
    await project.answer('More', { session, pictures: four });
    await project.answer('And now?', { session });
    const old = project.server.requests.at(-1);
    expect(blocksOf(old, -2).filter(Array.isArray)).toHaveLength(4);
    expect(blocksOf(old, -4).filter(Array.isArray)).toHaveLength(0);
    expect(blocksOf(old, -4)).toContain('[picture of message m1: /workspace/media/a.png]');
  });
});

await describeWithEngine('bubblewrap', 'pictures', () => {
  test('of what is said meanwhile are in the next request', async () => {
    let tell: (followUp: FollowUp) => boolean = () => false;
    const took: string[] = [];
    const hasPicture = (request: AnthropicRequest) =>
      request.body.messages.some((_, at) => (blocksOf(request, -1 - at) ?? []).some(Array.isArray));
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
      script: (request) =>
        hasPicture(request)
          ? [{ type: 'text', text: 'a stripe' }]
          : [{ type: 'tool_use', name: 'look', input: {} }],
    });
    await shelve(project, { 'a.png': SMALL });
    let looks = 0;
    const onTool = async () => {
      looks += 1;
      if (looks === 1) tell({ id: 'f1', text: 'this one', pictures: [shown('m1', 'a.png')] });
      // Until it is in a request the model looks again, 20 times at most: the more often, the later.
      await delay(200 * (looks - 1));
      return { ok: true, value: 'seen' };
    };
    const said = project.answer('look', {
      onTool,
      onReady: (send) => {
        tell = send;
      },
      onAccepted: (id) => void took.push(id),
    });
    expect(await said).toBe('a stripe');
    expect(took).toEqual(['f1']);
    const blocks = project.server.requests.flatMap((request) => blocksOf(request));
    expect(blocks).toContainEqual(['image/png', SMALL.length]);
  });

  test('that a server refuses are left out, and the turn goes on', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script: (request) =>
        blocksOf(request).some(Array.isArray)
          ? { kind: 'error', status: 400, message: 'image input is not supported' }
          : [{ type: 'text', text: blocksOf(request).join('|') }],
    });
    await shelve(project, { 'a.png': SMALL });
    expect(await project.answer('see', { pictures: [shown('m1', 'a.png')] })).toBe(
      'see|[picture of message m1: /workspace/media/a.png]|[You cannot see this picture: the server of this model has refused it.]',
    );
    const twelve = Array.from({ length: 12 }, (_, at) => shown(`m${at}`, 'a.png'));
    await project.answer('see', { pictures: twelve });
    const counts = project.server.requests.map((asked) => blocksOf(asked).filter(Array.isArray));
    expect(counts.map(({ length }) => length)).toEqual([1, 0, 10, 4, 0]);
  });

  test('are no reason to summarise a conversation', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      settings: { modelContext: 40_000 },
      script: OK,
    });
    const noisy = pngOf(
      { width: 400, height: 400 },
      Buffer.from(
        Uint8Array.from({ length: 400 * 1_201 }, (_, at) => (at % 1_201 ? (at * 7_919) >> 3 : 0)),
      ),
    );
    await shelve(project, { 'a.png': noisy });
    await project.answer('see', { pictures: ['1', '2', '3'].map((id) => shown(id, 'a.png')) });
    expect(project.server.requests).toHaveLength(1);
    expect(blocksOf(project.server.requests[0]).filter(Array.isArray)).toHaveLength(3);
  });

  test('go to a server of chat completions, too', async () => {
    const server = await startOpenAiServer(() => 'a stripe');
    const model = testModel({ provider: 'openai', name: 'gpt-test', baseUrl: `${server.url}/v1` });
    await using project = await sandboxProject({ engine: 'bubblewrap', model });
    await shelve(project, { 'a.png': SMALL });
    expect(await project.answer('see', { pictures: [shown('m1', 'a.png')] })).toBe('a stripe');
    const asked = server.requests[0]?.body.messages.at(-1)?.['content'];
    expect(asked).toEqual([
      { type: 'text', text: 'see' },
      { type: 'text', text: '[picture of message m1: /workspace/media/a.png]' },
      {
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${SMALL.toString('base64')}` },
      },
    ]);
    await server.close();
  });
});
