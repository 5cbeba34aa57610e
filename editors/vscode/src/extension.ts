// Starts `ttc lsp` and lets VS Code talk to it. Everything that the extension knows of kernels is in the server.

import * as vscode from "vscode";
import { DocumentSelector, LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

/** The documents that the server is asked about. */
function documents(): DocumentSelector {
  const languages = ["triton", "ttir", "ttgir"];
  if (vscode.workspace.getConfiguration("ttc").get<boolean>("python", true)) {
    languages.push("python");
  }
  return languages.flatMap((language) => [
    { scheme: "file", language },
    { scheme: "untitled", language },
  ]);
}

async function start(): Promise<void> {
  const command = vscode.workspace.getConfiguration("ttc").get<string>("path", "ttc");
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: documents(),
    // Case files and manifests give kernels their types.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{tk,py,toml}") },
  };
  client = new LanguageClient("ttc", "ttc", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    // Nobody waits for the answer: the extension is active, and `ttc.restart` works, whatever becomes of the message.
    const message = `The language server \`${command} lsp\` does not start: ${error}. Is ttc installed?`;
    void vscode.window.showErrorMessage(message, "Set the path").then((chosen) => {
      if (chosen !== undefined) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "ttc.path");
      }
    });
  }
}

async function restart(): Promise<void> {
  await client?.stop();
  client = undefined;
  await start();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("ttc.restart", restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("ttc")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
