import { describe, expect, it } from 'vitest';
import { plainToolSchema, problemOfTool, toolInputFor } from './tool-schema.ts';

const text = { type: 'string' };

describe('schemas of tools, as all servers take them', () => {
  it('folds choices at the top into one object, and says in words what belongs together', () => {
    const schema = plainToolSchema({
      type: 'object',
      properties: { a: text },
      anyOf: [{ required: ['a'] }, { required: ['b'], properties: { b: text } }],
    });
    expect(schema).toEqual({
      type: 'object',
      description: 'Give one of these: a; or b.',
      properties: { a: text, b: text },
    });
  });

  it('keeps what every part requires', () => {
    const schema = plainToolSchema({
      type: 'object',
      allOf: [{ properties: { a: text }, required: ['a'] }, { $ref: '#/$defs/more' }],
      oneOf: [
        { properties: { c: text, kind: { const: 1 } }, required: ['c', 'kind'] },
        { properties: { c: { type: 'number' } }, required: ['c'] },
      ],
      $defs: { more: { properties: { b: text } } },
    });
    expect(schema).toMatchObject({
      properties: { a: text, b: text, c: { anyOf: [text, { type: 'number' }] } },
      required: ['a', 'c'],
    });
    expect(Object.keys(schema)).not.toContain('oneOf');
  });

  it('gives a property another name where servers refuse its own, and takes the input back', () => {
    const { schema, restore } = toolInputFor({
      type: 'object',
      properties: {
        'filter[status]': text,
        list: { type: 'array', items: { type: 'object', properties: { 'a b': text } } },
      },
      required: ['filter[status]'],
    });
    const [name = ''] = Object.keys(schema['properties'] as object);
    expect(name).toMatch(/^filter_status_[0-9a-f]{6}$/);
    expect(schema['required']).toEqual([name]);
    const inner = JSON.stringify(schema).match(/a_b_[0-9a-f]{6}/)?.[0] ?? '';
    expect(restore({ [name]: 'open', list: [{ [inner]: 'x' }] })).toEqual({
      'filter[status]': 'open',
      list: [{ 'a b': 'x' }],
    });
  });

  it('says which tool cannot be offered', () => {
    const bad = { type: 'object', properties: { 'a b': text }, required: ['a b'] };
    expect(problemOfTool('x', bad)).toMatch(/"a b"/);
    expect(problemOfTool('functions.shell', {})).toMatch(/its name/);
    expect(problemOfTool('x', { properties: { 'a b': text } })).toBeNull();
    expect(plainToolSchema({ properties: { 'a b': text } })).toEqual({
      type: 'object',
      properties: {},
    });
  });

  it('mends what belongs to other drafts, or to none', () => {
    const schema = plainToolSchema({
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'http://example.org',
      properties: {
        id: { type: 'string', examples: ['a'], pattern: '(' },
        list: { type: 'array' },
        pair: { type: 'array', items: [text, { type: 'number' }] },
        age: { type: 'integer', minimum: 3, exclusiveMinimum: true },
        any: true,
        none: false,
        odd: { type: 'any', enum: [] },
        far: { $ref: 'http://example.org/x.json' },
      },
      required: ['id', 'gone', 'none'],
    });
    expect(schema).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        list: { type: 'array', items: {} },
        pair: { type: 'array', items: { anyOf: [text, { type: 'number' }] } },
        age: { type: 'integer', exclusiveMinimum: 3 },
        any: {},
        odd: {},
        far: {},
      },
      required: ['id'],
    });
  });

  it('is not misled by schemas that contain themselves, or names of objects', () => {
    const loop = { type: 'object', allOf: [{ $ref: '#' }], properties: { next: { $ref: '#' } } };
    expect(plainToolSchema(loop)).toMatchObject({ type: 'object' });
    const proto = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}');
    expect(Object.keys(plainToolSchema(proto)['properties'] as object)).toEqual(['__proto__']);
  });
});
