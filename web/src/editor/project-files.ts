/** The files of the project, folder by folder. */

import type { App } from '../app';

export interface ProjectFile {
  path: string;
  kind: string;
}

/** Folders looked into; a project with more of them is searched by typing its path. */
const MOST_FOLDERS = 40;

/** Every file of the project whose name ends so. */
export async function projectFiles(app: App, endings: readonly string[]): Promise<ProjectFile[]> {
  const found = new Map<string, ProjectFile>();
  const folders = [''];
  for (let k = 0; k < Math.min(folders.length, MOST_FOLDERS); k++) {
    const answer = await app.do('files', { folder: folders[k] });
    for (const file of (answer?.['files'] ?? []) as ProjectFile[])
      if (file.kind === 'folder') folders.push(file.path);
      else if (endings.some((e) => file.path.endsWith(e))) found.set(file.path, file);
  }
  return [...found.values()];
}
