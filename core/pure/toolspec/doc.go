// Package toolspec specifies the tools that a model can call. It has their names, schemas and
// descriptions, decodes their arguments, and decides whether a call may run. It is pure: it has no
// state, and equal arguments give equal results.
//
// # Tools
//
// Each built-in tool has a specification and a function that decodes its arguments. Package core has the table that
// joins a tool with the action of its calls:
//
//	shell                  runs a script and waits for its end
//	apply_patch            changes files
//	update_plan            shows a plan
//	exec_command           runs a script that may continue in the background
//	write_stdin            types into a session of exec_command, or waits for its output
//	view_image             shows an image file to the model
//	request_user_input     asks the user to choose
//	recall                 searches what left the context, and includes items again
//	tool_search            finds tools of MCP servers whose definitions are not in the request
//	call_tool              calls a tool that was found
//
// The tools of the client follow ([ClientTools]), then those of MCP servers ([ServerTool]). A client
// cannot use the name of a built-in tool, offered or not ([CheckDynamicTools]). The search of the
// provider is no function ([WebSearch]).
//
// # Arguments
//
// [Normalized] finds the object in the text that the model wrote, which may be anything. Each Parse
// function decodes it. An error names the missing or wrong member, since the model reads it. Unknown
// members are ignored. Integers, booleans and lists are taken in any form that is exact, such as 1e3 or
// "1000". Integers outside of their range get the nearest bound. [Conform] does the same for the tools of
// clients and servers, by their schemas. [OfferedName] finds the tool if the model changed its name.
//
// # Verdicts
//
// [Rules] decide by approval policy, sandbox policy and the danger of the call: [Run], [Ask] or
// [Refuse]. docs/approvals.md has the table, and the tests compare it with the function.
//
// # Decisions
//
// A script is judged by its text only ([appserver/core/pure/command]). A command counts as safe if the
// text proves that it only reads. Everything else is confined, or the user decides.
//
// Models call the shell by several names, and by two forms of its arguments, since histories of
// other programs have them. All of them are decoded; only shell and exec_command are offered.
//
// The server writes the files of patches itself. So the sandbox policy holds for patches also if the
// kernel cannot confine commands.
//
// A refused call is answered with a reason, and the turn continues. Models find another way more
// often than they repeat the call.
package toolspec
