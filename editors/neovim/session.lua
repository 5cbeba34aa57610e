-- A session of a real client: open, edit into a fault, diagnostics, hover, definition, completion, quick fix, close.
-- `make editors` runs it: nvim --headless -u NONE -l is not in 0.7, so `-c 'luafile session.lua'` does.

local here = debug.getinfo(1, "S").source:sub(2):match("(.*/)")
local ttc = dofile(here .. "ttc.lua")

local patience = 20000
local failures = 0

local function check(what, ok, found)
  io.stdout:write((ok and "ok      " or "FAILED  ") .. what .. "\n")
  if not ok then
    failures = failures + 1
    io.stdout:write("        " .. vim.inspect(found) .. "\n")
  end
end

local function wait_for(what, condition)
  if not vim.wait(patience, condition, 10) then
    check(what .. " (waited in vain)", false, vim.diagnostic.get(0))
  end
end

--- The result of a request about a place: line and column from 0.
local function ask(method, line, column, more)
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = column },
  }
  params = vim.tbl_extend("force", params, more or {})
  local answers, failed = vim.lsp.buf_request_sync(0, method, params, patience)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
  return failed
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

local folder = vim.fn.tempname()
vim.fn.mkdir(folder, "p")
local kernel = folder .. "/scale.tk"
local lines = {
  "import triton",
  "import triton.language as tl",
  "",
  "@triton.jit",
  'def scale(x_ptr: "*fp32:16", n: "i32", BLOCK: tl.constexpr = 1024):',
  "    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
  "    x = tl.load(x_ptr + offs, mask=offs < n)",
  "    tl.store(x_ptr + offs, x * 2.0, mask=offs < n)",
}
vim.fn.writefile(lines, kernel)

local function run()
  vim.cmd("edit " .. kernel)
  check("the file type", vim.bo.filetype == "triton", vim.bo.filetype)
  wait_for("the server starts", function()
    local one = vim.lsp.get_client_by_id(1)
    return one ~= nil and one.initialized
  end)
  check("hover waits for the first analysis", vim.inspect(ask("textDocument/hover", 5, 4)):find("int32%[1024%]") ~= nil)
  check("nothing is wrong", #vim.diagnostic.get(0) == 0, vim.diagnostic.get(0))

  -- Into a fault.
  vim.api.nvim_buf_set_text(0, 5, 41, 5, 47, { "aragne" })
  wait_for("the fault shows", function()
    return #vim.diagnostic.get(0) == 1
  end)
  local fault = vim.diagnostic.get(0)[1] or {}
  check("diagnostic", fault.lnum == 5 and (fault.message or ""):find("aragne") ~= nil, fault)

  -- The quick fix.
  local range = { start = { line = 5, character = 41 }, ["end"] = { line = 5, character = 47 } }
  local actions = ask("textDocument/codeAction", 5, 41, { range = range, context = { diagnostics = {} } })
  check("quick fix", actions[1] ~= nil and actions[1].title == "write `arange`", actions)
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  check("the fix repairs the text", text() == table.concat(lines, "\n"), text())
  wait_for("the fault is gone", function()
    return #vim.diagnostic.get(0) == 0
  end)

  local definition = ask("textDocument/definition", 6, 25)
  check("definition", definition[1] ~= nil and definition[1].range.start.line == 5, definition)
  local uses = ask("textDocument/references", 6, 25, { context = { includeDeclaration = true } })
  check("references", #uses == 5, uses)
  vim.api.nvim_buf_set_lines(0, 7, 7, false, { "    y = tl." })
  local offered = ask("textDocument/completion", 7, 11)
  local names = {}
  for _, item in ipairs(offered.items or offered) do
    names[item.label] = item.detail
  end
  check("completion", (names.arange or ""):find("arange%(start, end%)") ~= nil, names.arange)
  vim.api.nvim_buf_set_lines(0, 7, 8, false, {})

  -- IR.
  local ir = folder .. "/k.ttir"
  vim.fn.writefile({
    "tt.func public @k(%a: i32) {",
    "  %b = arith.addi %a, %a : i32",
    "  tt.return",
    "}",
  }, ir)
  vim.cmd("silent write | edit " .. ir)
  local there = ask("textDocument/definition", 1, 18)
  check("definition in IR", there[1] ~= nil and there[1].range.start.line == 0, there)
  vim.cmd("bwipeout!")
  vim.lsp.stop_client(vim.lsp.get_active_clients())
  wait_for("the server ends", function()
    return #vim.lsp.get_active_clients() == 0
  end)
end

local fine, problem = pcall(run)
check("the session runs to its end", fine, problem)
vim.cmd(failures == 0 and "qall!" or "cquit!")
