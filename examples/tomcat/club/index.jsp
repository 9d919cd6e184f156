<%@ page contentType="text/html; charset=UTF-8" %><%!
  private static String escape(Object value) {
    return String.valueOf(value).replace("&", "&amp;").replace("<", "&lt;");
  }
%><%
  // Like many applications, remembers the user who started the session.
  if (session.getAttribute("user") == null) session.setAttribute("user", request.getRemoteUser());
%><!DOCTYPE html>
<title>Allotment club</title>
<p>You are <%= escape(request.getRemoteUser()) %>, and this session is of <%= escape(session.getAttribute("user")) %>.
<p>The address is <%= escape(request.getRequestURL()) %>, secure: <%= request.isSecure() %>.
<p><a href="staff/">For the staff</a> · <a href="start.jsp">Start page</a> · <a href="logout.jsp">Log out</a>
