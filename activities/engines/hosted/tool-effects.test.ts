import { describe, expect, it } from 'vitest';
import { fileChangeOfTool } from './tool-file-change.ts';
import { planOfTool } from './tool-plan.ts';

describe('what a tool has changed, by its name and input', () => {
  it.each([
    ['write_file', { file_path: 'a' }, 'create'],
    ['createFile', { path: 'a' }, 'create'],
    ['edit-file', { filePath: 'a' }, 'edit'],
    ['delete', { file_path: 'a' }, 'delete'],
    ['str_replace_based_edit_tool', { command: 'insert', path: 'a' }, 'edit'],
    ['apply_patch', { callId: 'c', operation: { type: 'delete_file', path: 'a' } }, 'delete'],
  ])('%s changes a file', (name, input, changeType) => {
    expect(fileChangeOfTool(name, input)).toEqual({ kind: 'file.changed', path: 'a', changeType });
  });

  it.each([
    ['read_file', { path: 'a' }],
    ['str_replace_based_edit_tool', { command: 'view', path: 'a' }],
    ['write_file', { path: '' }],
    ['write_file', 'a'],
    ['constructor', { path: 'a' }],
  ])('%s with %j changes none that is known', (name, input) => {
    expect(fileChangeOfTool(name, input)).toBeNull();
  });

  it.each([
    ['todo', { items: ['Look'] }],
    ['updatePlan', { plan: [{ step: 'Look' }] }],
    ['write_todos', { todos: [{ content: 'Look', status: 'pending' }] }],
  ])('%s keeps a plan', (name, input) => {
    const entries = [{ id: '0-Look', text: 'Look', status: 'pending' }];
    expect(planOfTool(name, input)).toEqual({ kind: 'plan.updated', entries });
  });

  it.each([
    ['search', { items: ['Look'] }],
    ['todo', { items: [] }],
    ['todo', { items: [''] }],
    ['todo', null],
  ])('%s with %j keeps none', (name, input) => {
    expect(planOfTool(name, input)).toBeNull();
  });
});
