-- ttc in Neovim (0.7 or later): `:luafile ttc.lua`, or `require` it from `runtimepath/lua`.
--
-- The program is `ttc` in PATH, or the one that the environment variable TTC names.

local M = {}

vim.cmd([[
  autocmd BufRead,BufNewFile *.tk setfiletype triton
  autocmd BufRead,BufNewFile *.ttir setfiletype ttir
  autocmd BufRead,BufNewFile *.ttgir setfiletype ttgir
]])

local client

--- Connects a buffer to the server, which is started when it is first needed.
function M.attach(buffer)
  client = client
    or vim.lsp.start_client({
      name = "ttc",
      cmd = { os.getenv("TTC") or "ttc", "lsp" },
      root_dir = vim.fn.getcwd(),
    })
  if client then
    vim.lsp.buf_attach_client(buffer, client)
  end
  return client
end

vim.api.nvim_create_autocmd("FileType", {
  pattern = { "triton", "python", "ttir", "ttgir" },
  callback = function(event)
    M.attach(event.buf)
  end,
})

return M
